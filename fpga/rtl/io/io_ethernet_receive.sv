// SPDX-License-Identifier: Apache-2.0
// Gives received frames to VMs: for each VM that the frame is for it takes the VM's first request, writes the frame to the
// request's address, and completes the request with the frame's length. A VM without a request loses the frame and delays no
// other VM; nor does a wrong request, which costs its VM the frame.
module io_ethernet_receive
  import fabric_pkg::*;
  import io_pkg::*;
  import eth_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Frames in the buffer.
  parameter int unsigned Frames = 32
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// VMs that may receive now.
  input  logic [NumVms-1:0] enabled_i,
  /// Pulse: the VM's requests are removed; the frames in the buffer are not for it any longer.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  // frames (eth_buffer)
  input  logic        frame_valid_i,
  input  eth_frame_t  frame_i,
  input  logic [$clog2(Frames):0] number_i,
  output logic        frame_remove_o,
  output logic        read_o,
  input  logic        valid_i,
  input  logic [7:0]  byte_i,
  input  logic        last_i,
  output logic        ready_o,
  // requests (io_ring): the first one of want_vm_o, in the same cycle
  output vm_t         want_vm_o,
  input  logic        head_valid_i,
  input  io_request_t head_i,
  /// Pulse: the first request of remove_vm_o is complete.
  output logic        remove_o,
  output vm_t         remove_vm_o,
  // completions
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  /// Bytes of busy_vm_o may be on their way to memory.
  output logic        busy_o,
  output vm_t         busy_vm_o,
  // lost frames (eth_counters)
  output logic        lost_o,
  output vm_t         lost_vm_o,
  output lost_e       lost_why_o,
  input  logic        lost_ready_i,
  // data to memory (io_writer)
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

  typedef enum logic [2:0] {RvFrame, RvHead, RvCopy, RvDrain, RvComplete, RvLost} state_e;

  state_e state_q;
  logic [NumVms-1:0] mask_q;   // VMs that follow
  logic [NumVms-1:0] stale;    // VMs that the first frame is not for any longer
  logic [NumVms-1:0] flushes;
  logic abandoned_q, abandons, suits, wait_for_flush;
  vm_t vm_q;
  io_tag_t tag_q;
  io_status_e status_q;
  io_length_t bytes;

  assign bytes = 16'(frame_i.bytes) - (frame_i.has_tag ? 16'(TagBytes) : '0);
  assign suits = head_i.op == OpReceive && head_i.length >= bytes;

  // ---- Flushed VMs ----
  // The number of frames, from the first one on, that had arrived when the VM was flushed.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_stale
    logic [$clog2(Frames):0] stale_q;
    assign flushes[v] = flush_i && flush_vm_i == vm_t'(v);
    assign stale[v]   = stale_q != '0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) stale_q <= '0;
      else if (flushes[v]) stale_q <= number_i - ($clog2(Frames) + 1)'(frame_remove_o);
      else if (frame_remove_o && stale[v]) stale_q <= stale_q - 1'b1;
    end
  end

  // ---- The VM whose turn it is ----
  always_comb begin
    want_vm_o = '0;
    for (int v = int'(NumVms) - 1; v >= 0; v--) if (mask_q[v]) want_vm_o = vm_t'(v);
  end
  assign wait_for_flush = (mask_q & flushes) != '0;
  assign abandons       = abandoned_q || (flush_i && flush_vm_i == vm_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= RvFrame;
      mask_q      <= '0;
      abandoned_q <= 1'b0;
      vm_q        <= '0;
      tag_q       <= '0;
      status_q    <= IoDone;
      lost_why_o  <= LostNoRequest;
    end else begin
      mask_q      <= mask_q & ~flushes;
      abandoned_q <= abandons;
      unique case (state_q)
        RvFrame: if (frame_valid_i) begin
          mask_q  <= frame_i.mask[NumVms-1:0] & enabled_i & ~stale & ~flushes;
          state_q <= RvHead;
        end
        RvHead: if (mask_q == '0) state_q <= RvFrame;
        else if (!wait_for_flush) begin
          mask_q      <= mask_q & ~(NumVms'(1) << want_vm_o);
          vm_q        <= want_vm_o;
          tag_q       <= head_i.tag;
          abandoned_q <= 1'b0;
          status_q    <= suits ? IoDone : IoBad;
          lost_why_o  <= head_valid_i ? LostRequest : LostNoRequest;
          if (!head_valid_i) state_q <= RvLost;
          else state_q <= suits ? RvCopy : RvComplete;
        end
        RvCopy: if (write_end_o) state_q <= RvDrain;
        RvDrain: if (write_done_i) begin
          state_q  <= RvComplete;
          status_q <= write_status_i;
        end
        RvComplete: begin
          if (abandoned_q) state_q <= RvHead;
          else if (complete_ready_i) state_q <= status_q == IoDone ? RvHead : RvLost;
        end
        default: if (lost_ready_i) state_q <= RvHead;  // RvLost
      endcase
    end
  end

  assign frame_remove_o = state_q == RvHead && mask_q == '0;
  assign remove_o       = complete_o && complete_ready_i;
  assign remove_vm_o    = vm_q;
  assign complete_o     = state_q == RvComplete && !abandoned_q;
  assign completion_o   = '{vm: vm_q, tag: tag_q, status: status_q, bytes: status_q == IoDone ? bytes : '0,
                            data: 32'(bytes)};
  assign busy_o         = state_q inside {RvCopy, RvDrain};
  assign busy_vm_o      = vm_q;
  assign lost_o         = state_q == RvLost;
  assign lost_vm_o      = vm_q;

  // ---- Data ----
  // A flushed VM's copy ends at once, and what is on its way to memory is drained.
  assign read_o        = state_q == RvCopy;
  assign write_start_o = state_q == RvHead && mask_q != '0 && !wait_for_flush && head_valid_i && suits;
  assign write_vm_o    = want_vm_o;
  assign write_addr_o  = head_i.addr;
  assign write_valid_o = state_q == RvCopy && valid_i && !abandons;
  assign write_byte_o  = byte_i;
  assign ready_o       = write_ready_i;
  assign write_end_o   = state_q == RvCopy && (abandons || (valid_i && last_i && write_ready_i));

  logic unused;
  assign unused = &{1'b0, head_i.target, head_i.due, frame_i.mask};

endmodule
