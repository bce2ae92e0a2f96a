// SPDX-License-Identifier: Apache-2.0
// Gives received frames to VMs: for each VM that the frame is for it takes the VM's first request,
// writes the frame to the request's address, and completes the request with the frame's length. A
// VM without a request loses the frame and delays no other VM; nor does a wrong request, which
// costs its VM the frame.
//
// For the first VM this starts while the frame arrives. Nothing is completed or counted before the
// frame is whole. If it is dropped instead, the request stays in the ring; its memory may have been
// written, up to the request's length.
module io_eth_receive
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Frames in the buffer.
  parameter int unsigned Frames = 32
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no copy is in progress after it.
  input  logic        rst_ni,
  /// VMs that may receive now.
  input  logic [NumVms-1:0] enabled_i,
  /// Pulse: the VM's requests are removed; the frames in the buffer are not for it any longer.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  /// Frames (io_eth_buffer): the first one, as far as it has arrived; read_o, a level, reads its
  /// bytes from the first one on, once for each VM.
  input  logic        frame_valid_i,
  input  io_eth_frame_t frame_i,
  input  logic        whole_i,
  input  logic [$clog2(Frames):0] number_i,
  output logic        frame_remove_o,
  output logic        read_o,
  input  logic        valid_i,
  input  logic [7:0]  byte_i,
  input  logic        over_i,
  output logic        ready_o,
  /// Requests (io_ring): head_valid_i and head_i are those of want_vm_o, in the same cycle.
  output vm_t         want_vm_o,
  input  logic        head_valid_i,
  input  io_request_t head_i,
  /// Pulse: the first request of remove_vm_o is complete.
  output logic        remove_o,
  output vm_t         remove_vm_o,
  /// Completions: a level until complete_ready_i, unless the VM flushes its requests.
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  /// Bytes of busy_vm_o may be in flight to memory.
  output logic        busy_o,
  output vm_t         busy_vm_o,
  /// Lost frames (io_eth_counters): a level until lost_ready_i.
  output logic        lost_o,
  output vm_t         lost_vm_o,
  output lost_e       lost_why_o,
  input  logic        lost_ready_i,
  /// Data to memory (io_writer): a pulse with VM and address; bytes follow until write_end_o, a
  /// pulse; write_done_i, with the status, ends the transfer.
  output logic        write_start_o,
  output vm_t         write_vm_o,
  output addr_t       write_addr_o,
  output logic        write_valid_o,
  output logic [7:0]  write_byte_o,
  input  logic        write_ready_i,
  output logic        write_end_o,
  input  logic        write_done_i,
  input  io_status_e  write_status_i
);

  // RvFrame: no frame. RvHead: the next VM and its request. RvCopy: bytes to memory. RvDrain: until
  // they are written. RvComplete: the completion waits. RvLost: the loss is counted.
  typedef enum logic [2:0] {RvFrame, RvHead, RvCopy, RvDrain, RvComplete, RvLost} state_e;

  state_e state_q;
  // VMs that have been served, and those that the frame is not for any longer
  logic [NumVms-1:0] past_q;
  logic [NumVms-1:0] rest;     // VMs that follow, as far as they are known
  logic [NumVms-1:0] stale;    // VMs that the first frame is not for any longer
  logic [NumVms-1:0] flushes;
  logic dropped_q, dropped;    // the frame, at its end
  logic abandoned_q, abandons, wait_for_flush, offer;
  vm_t vm_q;
  io_tag_t tag_q;
  io_status_e status_q;
  io_length_t space_q;         // bytes that the request can still take
  io_length_t bytes;

  assign bytes   = 16'(frame_i.bytes) - (frame_i.has_tag ? 16'(TagBytes) : '0);
  assign dropped = dropped_q || !frame_valid_i;

  // ---- Flushed VMs ----
  // The number of frames, from the first one on, that had arrived when the VM was flushed.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_stale
    logic [$clog2(Frames):0] stale_q;
    assign flushes[v] = flush_i && flush_vm_i == vm_t'(v);
    assign stale[v]   = stale_q != '0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) stale_q <= '0;
      else if (flushes[v]) stale_q <= number_i - ($clog2(Frames) + 1)'(frame_remove_o);
      else if (!frame_valid_i) stale_q <= '0;  // the only one has been dropped
      else if (frame_remove_o && stale[v]) stale_q <= stale_q - 1'b1;
    end
  end

  // ---- The VM that is served ----
  assign rest = frame_i.mask[NumVms-1:0] & ~past_q;
  always_comb begin
    want_vm_o = '0;
    for (int v = int'(NumVms) - 1; v >= 0; v--) if (rest[v]) want_vm_o = vm_t'(v);
  end
  assign wait_for_flush = (rest & flushes) != '0;
  assign offer          = state_q == RvHead && !dropped && rest != '0 && !wait_for_flush;
  assign abandons       = abandoned_q || dropped || (flush_i && flush_vm_i == vm_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= RvFrame;
      past_q      <= '0;
      dropped_q   <= 1'b0;
      abandoned_q <= 1'b0;
      vm_q        <= '0;
      tag_q       <= '0;
      status_q    <= IoDone;
      space_q     <= '0;
      lost_why_o  <= LostNoRequest;
    end else begin
      past_q      <= past_q | flushes;
      dropped_q   <= dropped;
      abandoned_q <= abandons;
      unique case (state_q)
        RvFrame: begin
          dropped_q <= 1'b0;
          past_q    <= ~enabled_i | stale | flushes;
          if (frame_valid_i) state_q <= RvHead;
        end
        RvHead: if (dropped || frame_remove_o) state_q <= RvFrame;
        else if (offer && (head_valid_i || whole_i)) begin
          state_q     <= head_valid_i ? RvCopy : RvLost;
          past_q      <= past_q | flushes | NumVms'(1) << want_vm_o;
          vm_q        <= want_vm_o;
          tag_q       <= head_i.tag;
          abandoned_q <= 1'b0;
          status_q    <= IoDone;
          space_q     <= head_i.op == OpReceive ? head_i.length : '0;
          lost_why_o  <= head_valid_i ? LostRequest : LostNoRequest;
        end
        RvCopy: begin
          if (write_valid_o && write_ready_i) space_q <= space_q - 1'b1;
          if (valid_i && space_q == '0) status_q <= IoBad;
          if (write_end_o) state_q <= RvDrain;
        end
        RvDrain: if (write_done_i) begin
          state_q <= RvComplete;
          if (status_q == IoDone) status_q <= write_status_i;
        end
        RvComplete: begin
          if (abandoned_q) state_q <= RvHead;
          else if (complete_ready_i) state_q <= status_q == IoDone ? RvHead : RvLost;
        end
        default: if (lost_ready_i) state_q <= RvHead;  // RvLost
      endcase
    end
  end

  assign frame_remove_o = state_q == RvHead && !dropped && whole_i && rest == '0;
  assign remove_o       = complete_o && complete_ready_i;
  assign remove_vm_o    = vm_q;
  assign complete_o     = state_q == RvComplete && !abandoned_q;
  assign completion_o   = '{vm: vm_q, tag: tag_q, status: status_q, bytes: status_q == IoDone
                            ? bytes : '0, data: 32'(bytes)};
  assign busy_o         = state_q inside {RvCopy, RvDrain};
  assign busy_vm_o      = vm_q;
  assign lost_o         = state_q == RvLost;
  assign lost_vm_o      = vm_q;

  // ---- Data ----
  // The copy of a dropped frame, or for a flushed VM, ends at once, and what is on its way to
  // memory is drained.
  assign read_o        = state_q == RvCopy;
  assign write_start_o = offer && head_valid_i;
  assign write_vm_o    = want_vm_o;
  assign write_addr_o  = head_i.addr;
  assign write_valid_o = state_q == RvCopy && valid_i && space_q != '0 && !abandons;
  assign write_byte_o  = byte_i;
  assign ready_o       = write_ready_i || space_q == '0;
  assign write_end_o   = state_q == RvCopy && (abandons || over_i);

  logic unused;
  assign unused = &{1'b0, head_i.target, head_i.due, head_i.face, frame_i.mask};

endmodule
