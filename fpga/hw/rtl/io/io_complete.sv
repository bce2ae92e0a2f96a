// SPDX-License-Identifier: Apache-2.0
// Writes the completions of all channels into rings in the VMs' memory, one word each. A ring has
// more entries than a VM has requests, so a VM that reads its ring before it submits again loses
// nothing; if it does not, it overwrites its own entries only. Bit 0 of a word is 1 in the first
// pass over the ring, and changes with each pass: so a VM sees by one read whether an entry is new.
module io_complete
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// VMs, and channels, which are the devices that execute requests.
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumChannels = 2,
  /// Entries of a ring, a power of two.
  parameter int unsigned Entries = 16,
  localparam int unsigned IndexBits = $clog2(Entries),
  localparam int unsigned ChannelBits = NumChannels > 1 ? $clog2(NumChannels) : 1,
  localparam int unsigned Rows = 16 << ChannelBits
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no ring is set after it, so completions are lost until then.
  input  logic        rst_ni,
  // the rings
  /// Pulse: a VM's ring for a channel starts at set_addr_i, and is empty. A completion that is
  /// being written goes into the ring before it.
  input  logic        set_i,
  input  vm_t         set_vm_i,
  input  logic [ChannelBits-1:0] set_channel_i,
  /// Guest-physical, a multiple of the ring's size.
  input  addr_t       set_addr_i,
  /// Pulse: no completion is written for this VM until its ring is set again.
  input  logic        clear_i,
  input  vm_t         clear_vm_i,
  /// Completions (io_arbiter): a channel waits until its ready_o, a pulse. Channels take turns, and
  /// one completion is written at a time, so a channel waits for at most one of each other channel.
  input  logic           [NumChannels-1:0] complete_i,
  input  io_completion_t [NumChannels-1:0] completion_i,
  output logic           [NumChannels-1:0] ready_o,
  /// A completion of this VM is being written.
  output logic        busy_o,
  output vm_t         busy_vm_o,
  // events
  /// Pulses, of event_vm_o and event_channel_o: a completion is in memory, and the VM was not
  /// cleared before the end; a completion could not be written.
  output logic        written_o,
  output logic        lost_o,
  output vm_t         event_vm_o,
  output logic [ChannelBits-1:0] event_channel_o,
  /// DMA (io_dma): request_o stays until done_i; burst_o and word_o are stable until then.
  output logic        request_o,
  output io_burst_t   burst_o,
  output io_word_t    word_o,
  input  logic        done_i,
  input  io_status_e  status_i
);

  // CoWrite: the DMA writes the chosen completion.
  typedef enum logic {CoChoose, CoWrite} state_e;

  state_e state_q;
  logic [NumChannels-1:0] chosen;
  logic [ChannelBits-1:0] channel, channel_q;
  logic any, phase;
  // since the completion was chosen, its VM was cleared; its ring was set
  logic cleared_q, moved_q;
  io_completion_t first, first_q;
  // Address of each ring, by {channel, VM}, in distributed RAM without a reset; set_q tells that it
  // is valid.
  addr_t base [Rows];
  logic [IndexBits:0] index [Rows];  // of the next entry; the highest bit is the pass
  logic [IndexBits:0] position, position_q;
  addr_t base_q;
  // the ring is set; nothing is written into it yet
  logic [NumVms-1:0][NumChannels-1:0] set_q, empty_q;
  logic is_set, is_empty;

  rr_arb_tree #(.NumIn(NumChannels), .DataType(io_completion_t), .AxiVldRdy(1'b0),
                .LockIn(1'b0)) i_choice (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .rr_i('0),
    .req_i(complete_i),
    .gnt_o(chosen),
    .data_i(completion_i),
    .req_o(any),
    .gnt_i(state_q == CoChoose),
    .data_o(first),
    .idx_o(channel)
  );
  assign ready_o = chosen & {NumChannels{state_q == CoChoose}};

  function automatic logic [ChannelBits+3:0] row(vm_t vm, logic [ChannelBits-1:0] number);
    return {number, vm};
  endfunction

  always_comb begin
    is_set   = 1'b0;
    is_empty = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (first.vm == vm_t'(v)) begin
        is_set   = set_q[v][channel];
        is_empty = empty_q[v][channel];
      end
    end
  end
  // The index is void until the first entry after the ring was set.
  assign position = is_empty ? '0 : index[row(first.vm, channel)];
  assign phase    = !position_q[IndexBits];

  always_ff @(posedge clk_i) begin
    if (set_i) base[row(set_vm_i, set_channel_i)] <= set_addr_i;
    // Also after a failed write: the VM finds a gap, and the manager gets lost_o.
    if (state_q == CoWrite && done_i) index[row(first_q.vm, channel_q)] <= position_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= CoChoose;
      channel_q  <= '0;
      first_q    <= '0;
      position_q <= '0;
      base_q     <= '0;
      cleared_q  <= 1'b0;
      moved_q    <= 1'b0;
    end else begin
      unique case (state_q)
        CoChoose: if (any) begin
          state_q    <= is_set ? CoWrite : CoChoose;
          channel_q  <= channel;
          first_q    <= first;
          position_q <= position;
          base_q     <= base[row(first.vm, channel)];
          cleared_q  <= clear_i && clear_vm_i == first.vm;
          moved_q    <= set_i && set_vm_i == first.vm && set_channel_i == channel;
        end
        default: begin  // CoWrite
          if (done_i) state_q <= CoChoose;
          if (clear_i && clear_vm_i == first_q.vm) cleared_q <= 1'b1;
          if (set_i && set_vm_i == first_q.vm && set_channel_i == channel_q) moved_q <= 1'b1;
        end
      endcase
    end
  end

  // A completion without a ring is lost at once; others have their outcome at the end of the write.
  logic ends, without_ring;
  assign ends            = state_q == CoWrite && done_i;
  assign without_ring    = state_q == CoChoose && any && !is_set;
  assign written_o       = ends && status_i == IoDone && !cleared_q;
  assign lost_o          = (ends && status_i != IoDone) || without_ring;
  assign event_vm_o      = without_ring ? first.vm : first_q.vm;
  assign event_channel_o = without_ring ? channel : channel_q;

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    for (genvar c = 0; c < int'(NumChannels); c++) begin : gen_channel
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          set_q[v][c]   <= 1'b0;
          empty_q[v][c] <= 1'b1;
        end else begin
          // A ring that was set during the write is still empty.
          if (ends && !moved_q && first_q.vm == vm_t'(v) && channel_q == ChannelBits'(c))
            empty_q[v][c] <= 1'b0;
          if (set_i && set_vm_i == vm_t'(v) && set_channel_i == ChannelBits'(c)) begin
            set_q[v][c]   <= 1'b1;
            empty_q[v][c] <= 1'b1;
          end
          if (clear_i && clear_vm_i == vm_t'(v)) set_q[v][c] <= 1'b0;
        end
      end
    end
  end

  assign busy_o    = state_q != CoChoose;
  assign busy_vm_o = first_q.vm;
  assign request_o = state_q == CoWrite;
  assign burst_o   = '{vm: first_q.vm, write: 1'b1,
                       addr: base_q + addr_t'({position_q[IndexBits-1:0], 3'b0}), beats: 5'd1};
  // The format of an entry is in docs/hardware-io.md.
  assign word_o    = '{data: {first_q.data, first_q.bytes, first_q.tag, first_q.status, 3'b0,
                              phase}, strobes: '1};

endmodule
