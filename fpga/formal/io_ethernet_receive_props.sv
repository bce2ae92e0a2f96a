// SPDX-License-Identifier: Apache-2.0
// Proves the delivery with three VMs, for all buffers, requests, memories and flushes: a frame is written for, and completes
// a request of, only a VM in the frame's mask, which is enabled and was not flushed since the frame arrived, and at most
// once; the completion has the tag of the request that was taken; and none follows a flush.
module io_ethernet_receive_props
  import fabric_pkg::*;
  import io_pkg::*;
  import eth_pkg::*;
#(
  localparam int unsigned NumVms = 3,
  localparam int unsigned Frames = 4,
  localparam logic [2:0] Frame = 3'd0, Head = 3'd1, Copy = 3'd2, Drain = 3'd3, Complete = 3'd4, Lost = 3'd5
) (
  input logic clk_i,
  input logic [NumVms-1:0] enabled_i,
  input logic arrives_i, flush_i, valid_i, last_i, complete_ready_i, lost_ready_i, write_ready_i, write_done_i,
  input vm_t flush_vm_i,
  input logic [7:0] byte_i,
  input eth_frame_t frame_i,
  input logic head_valid_i,
  input io_request_t head_i,
  input io_status_e write_status_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // The buffer: the first frame is arbitrary, and stays until it is removed.
  logic [2:0] number_q = '0;
  eth_frame_t frame_q;
  logic remove_frame, arrives;
  assign arrives = arrives_i && number_q != 3'(Frames) && rst_n;
  always_ff @(posedge clk_i) begin
    number_q <= number_q + 3'(arrives) - 3'(remove_frame);
    if (remove_frame || number_q == '0) frame_q <= frame_i;
  end

  vm_t want_vm, remove_vm, busy_vm, lost_vm, write_vm;
  logic reads, ready, remove, complete, busy, lost, write_start, write_valid, write_end;
  lost_e lost_why;
  io_completion_t completion;
  addr_t write_addr;
  logic [7:0] write_byte;
  io_ethernet_receive #(.NumVms(NumVms), .Frames(Frames)) dut (
    .clk_i, .rst_ni(rst_n), .enabled_i, .flush_i, .flush_vm_i, .frame_valid_i(number_q != '0), .frame_i(frame_q),
    .number_i(number_q), .frame_remove_o(remove_frame), .read_o(reads), .valid_i, .byte_i, .last_i, .ready_o(ready),
    .want_vm_o(want_vm), .head_valid_i, .head_i, .remove_o(remove), .remove_vm_o(remove_vm), .complete_o(complete),
    .completion_o(completion), .complete_ready_i, .busy_o(busy), .busy_vm_o(busy_vm), .lost_o(lost), .lost_vm_o(lost_vm),
    .lost_why_o(lost_why), .lost_ready_i, .write_start_o(write_start), .write_vm_o(write_vm), .write_addr_o(write_addr),
    .write_valid_o(write_valid), .write_byte_o(write_byte), .write_ready_i, .write_end_o(write_end), .write_done_i,
    .write_status_i
  );
  always_comb if (dut.state_q != Drain) assume (!write_done_i);

  // An arbitrary VM: whether the first frame has been offered to it; how many of the frames had arrived at its last flush;
  // whether it was enabled when the frame was taken up; and the request that was taken.
  (* keep *) logic [1:0] any;
  always_ff @(posedge clk_i) any <= any;
  always_comb assume (any < 2'(NumVms));
  logic offered_q = 1'b0, enabled_q, flushed_q;
  logic [2:0] old_q = '0;
  io_request_t taken_q;
  logic offers, flushes;
  assign offers  = write_start && write_vm == vm_t'(any);
  assign flushes = flush_i && flush_vm_i == vm_t'(any);
  always_ff @(posedge clk_i) begin
    offered_q <= remove_frame ? 1'b0 : offered_q || offers;
    if (dut.state_q == Frame) enabled_q <= enabled_i[any];
    if (flushes) old_q <= number_q - 3'(remove_frame);
    else if (remove_frame && old_q != '0) old_q <= old_q - 1'b1;
    if (dut.state_q == Head && want_vm == vm_t'(any)) begin
      taken_q   <= head_i;
      flushed_q <= 1'b0;
    end else if (flushes) flushed_q <= 1'b1;
  end

  logic [NumVms-1:0][2:0] stale_number;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_stale
    assign stale_number[v] = dut.gen_stale[v].stale_q;
  end

  logic current;
  assign current = dut.vm_q == vm_t'(any) && dut.state_q inside {Copy, Drain, Complete};

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (number_q == '0 && old_q == '0 && !offered_q);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (dut.state_q <= Lost && number_q <= 3'(Frames) && dut.stale[any] == (old_q != '0) && old_q <= number_q);
    assert (stale_number[any] == old_q);
    if (dut.state_q != Frame) assert (number_q != '0);
    else assert (!offered_q);
    if (dut.state_q != Frame && dut.mask_q[any]) assert (frame_q.mask[any] && enabled_q && old_q == '0 && !offered_q);
    if (current) begin
      assert (frame_q.mask[any] && enabled_q && completion.tag == taken_q.tag);
      assert (dut.abandoned_q == flushed_q && !dut.mask_q[any]);
      if (dut.state_q != Complete || completion.status == IoDone)
        assert (taken_q.op == OpReceive && dut.bytes <= taken_q.length);
      assert (!flushed_q || old_q != '0);
      assert (flushed_q || old_q == '0);
    end

    if (offers) assert (frame_q.mask[any] && enabled_q && old_q == '0 && !offered_q && !flushes && head_valid_i);
    if (write_valid && busy_vm == vm_t'(any)) assert (current && !flushed_q && !flushes);
    if (complete && completion.vm == vm_t'(any)) begin
      assert (current && frame_q.mask[any] && !flushed_q && completion.tag == taken_q.tag);
      assert (completion.bytes <= taken_q.length);
    end
    if (remove) assert (complete && remove_vm == completion.vm);
    cover (complete && completion.vm == 4'd2 && old_q == '0 && number_q == 3'd3);
    cover (current && dut.abandoned_q && dut.state_q == Complete);
  end
endmodule
