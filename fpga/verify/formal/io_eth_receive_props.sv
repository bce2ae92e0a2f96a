// SPDX-License-Identifier: Apache-2.0
// Proves the delivery with three VMs, for all buffers, requests, memories and flushes: a frame is
// written for, and completes a request of, only a VM in the frame's mask, which is enabled and was
// not flushed since the frame arrived, and at most once; the completion has the tag of the request
// that was taken, and its length at most; not more than this length is written; none follows a
// flush. Nothing is completed or counted as lost before the frame is whole, and a frame that is
// dropped ends no request.
module io_eth_receive_props
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  localparam int unsigned NumVms = 3,
  localparam int unsigned Frames = 4,
  localparam logic [2:0] Frame = 3'd0, Head = 3'd1, Copy = 3'd2, Drain = 3'd3, Complete = 3'd4,
                                 Lost = 3'd5
) (
  input logic clk_i,
  input logic [NumVms-1:0] enabled_i,
  input logic arrives_i, opens_i, drops_i, flush_i, valid_i, over_i, complete_ready_i, lost_ready_i,
      write_ready_i,
  input logic write_done_i,
  input vm_t flush_vm_i,
  input logic [7:0] byte_i,
  input io_eth_frame_t frame_i,
  input logic head_valid_i,
  input io_request_t head_i,
  input io_status_e write_status_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // The buffer: the first frame is arbitrary. It can be open while it arrives, and then get more
  // VMs and bytes, and be dropped or become whole. A whole one stays as it is until it is removed.
  logic [2:0] whole_q = '0, number;  // frames that have arrived
  logic open_q = 1'b0;
  io_eth_frame_t frame_q;
  logic remove_frame, arrives, drops;
  assign arrives = arrives_i && whole_q != 3'(Frames) && rst_n;
  assign drops   = open_q && !arrives && drops_i;
  assign number  = open_q ? 3'd1 : whole_q;
  always_ff @(posedge clk_i) begin
    whole_q <= whole_q + 3'(arrives) - 3'(remove_frame);
    if (arrives || drops) open_q <= 1'b0;
    else if (rst_n && whole_q == 3'(remove_frame) && !open_q) open_q <= opens_i;
    if (remove_frame || number == '0) frame_q <= frame_i;
    else if (open_q)
      frame_q <= '{bytes: frame_i.bytes, has_tag: frame_q.has_tag,
                   mask: frame_q.mask | frame_i.mask};
  end

  vm_t want_vm, remove_vm, busy_vm, lost_vm, write_vm;
  logic reads, ready, remove, complete, busy, lost, write_start, write_valid, write_end;
  lost_e lost_why;
  io_completion_t completion;
  addr_t write_addr;
  logic [7:0] write_byte;
  io_eth_receive #(.NumVms(NumVms), .Frames(Frames)) dut (
    .clk_i, .rst_ni(rst_n), .enabled_i, .flush_i, .flush_vm_i, .frame_valid_i(number != '0),
    .frame_i(frame_q), .whole_i(whole_q != '0), .number_i(number), .frame_remove_o(remove_frame),
    .read_o(reads), .valid_i, .byte_i, .over_i, .ready_o(ready),
    .want_vm_o(want_vm), .head_valid_i, .head_i, .remove_o(remove), .remove_vm_o(remove_vm),
    .complete_o(complete), .completion_o(completion), .complete_ready_i, .busy_o(busy),
    .busy_vm_o(busy_vm), .lost_o(lost), .lost_vm_o(lost_vm), .lost_why_o(lost_why), .lost_ready_i,
    .write_start_o(write_start), .write_vm_o(write_vm), .write_addr_o(write_addr),
    .write_valid_o(write_valid), .write_byte_o(write_byte), .write_ready_i, .write_end_o(write_end),
    .write_done_i, .write_status_i
  );
  always_comb if (dut.state_q != Drain) assume (!write_done_i);

  // What has been read of the frame: all of it when it is over.
  io_length_t read_q = '0;
  always_ff @(posedge clk_i) begin
    if (!reads) read_q <= '0;
    else if (valid_i && ready) read_q <= read_q + 1'b1;
  end
  always_comb begin
    if (read_q >= 16'd1518) assume (!valid_i);
    if (reads && over_i) assume (whole_q != '0 && !valid_i && read_q == dut.bytes);
  end

  // An arbitrary VM: whether the first frame has been offered to it; how many of the frames had
  // arrived at its last flush; whether it was enabled when the frame was taken up; the request that
  // was taken, and the bytes that were written for it.
  (* keep *) logic [1:0] any;
  always_ff @(posedge clk_i) any <= any;
  always_comb assume (any < 2'(NumVms));
  logic offered_q = 1'b0, enabled_q, flushed_q;
  logic [2:0] old_q = '0;
  io_request_t taken_q;
  io_length_t written_q, limit;
  logic offers, flushes, writes;
  assign offers  = write_start && write_vm == vm_t'(any);
  assign flushes = flush_i && flush_vm_i == vm_t'(any);
  assign writes  = write_valid && write_ready_i;
  assign limit   = taken_q.op == OpReceive ? taken_q.length : '0;
  always_ff @(posedge clk_i) begin
    offered_q <= remove_frame || drops ? 1'b0 : offered_q || offers;
    if (dut.state_q == Frame) enabled_q <= enabled_i[any];
    if (flushes) old_q <= number - 3'(remove_frame);
    else if (number == '0) old_q <= '0;
    else if (remove_frame && old_q != '0) old_q <= old_q - 1'b1;
    if (dut.state_q == Head && want_vm == vm_t'(any)) begin
      taken_q   <= head_i;
      flushed_q <= 1'b0;
    end else if (flushes) flushed_q <= 1'b1;
    written_q <= dut.state_q == Head ? '0 : written_q + 16'(writes);
  end

  logic [NumVms-1:0][2:0] stale_number;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_stale
    assign stale_number[v] = dut.gen_stale[v].stale_q;
  end

  logic whole, current;
  assign whole   = whole_q != '0;
  assign current = dut.vm_q == vm_t'(any) && dut.state_q inside {Copy, Drain, Complete};

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (number == '0 && old_q == '0 && !offered_q);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (dut.state_q <= Lost && whole_q <= 3'(Frames) && !(open_q && whole));
    assert (stale_number[any] == old_q && old_q <= (number == '0 ? 3'd1 : number));
    if (dut.state_q == Frame || dut.dropped) assert (!offered_q);
    if (dut.state_q == Copy) assert (!dut.abandoned_q && !dut.dropped_q);
    if (dut.state_q == Lost) assert (whole && !dut.dropped_q);
    if (dut.state_q inside {Drain, Complete} && !dut.abandoned_q) assert (whole && !dut.dropped_q);
    if (dut.state_q != Frame && !dut.dropped && !dut.past_q[any])
      assert (enabled_q && old_q == '0 && !offered_q);
    if (current) begin
      assert (completion.tag == taken_q.tag && dut.past_q[any]
              && dut.abandoned_q == (flushed_q || dut.dropped_q));
      if (!dut.dropped) assert (frame_q.mask[any] && enabled_q && flushed_q == (old_q != '0));
      assert (written_q <= limit);
      if (dut.state_q == Copy) begin
        assert (written_q + dut.space_q == limit && dut.status_q inside {IoDone, IoBad});
        if (dut.status_q == IoDone) assert (written_q == read_q);
      end else if (!dut.abandoned_q && dut.status_q == IoDone) assert (written_q == dut.bytes);
    end

    if (offers) begin
      assert (frame_q.mask[any] && enabled_q && old_q == '0 && !offered_q && !flushes
              && head_valid_i);
      assert (number != '0 && dut.state_q == Head);
    end
    if (write_valid && busy_vm == vm_t'(any)) begin
      assert (current && !flushed_q && !flushes && number != '0 && frame_q.mask[any]);
      assert (written_q < limit);
    end
    if (complete && completion.vm == vm_t'(any)) begin
      assert (current && frame_q.mask[any] && !flushed_q && completion.tag == taken_q.tag && whole);
      assert (completion.bytes <= limit && (completion.status != IoDone
                                            || completion.bytes == written_q));
    end
    if (lost || remove_frame) assert (whole);
    if (remove) assert (complete && remove_vm == completion.vm);
    cover (complete && completion.vm == 4'd2 && old_q == '0 && whole_q == 3'd3);
    cover (current && flushed_q && dut.state_q == Complete);
    cover (current && dut.dropped_q && open_q);
    cover (complete && completion.status == IoDone && completion.bytes == 16'd3);
    cover (complete && completion.status == IoBad && written_q == 16'd2);
  end
endmodule
