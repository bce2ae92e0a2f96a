// SPDX-License-Identifier: Apache-2.0
// Proves the FIFOs with two VMs and two requests each: an accepted request of any VM comes out
// once, unchanged and in order, unless its VM is flushed; a request is refused only if its own VM's
// FIFO is full; and progress belongs to the request that made it.
module io_ring_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 2,
  localparam int unsigned Depth = 2
) (
  input logic clk_i,
  input logic submit_i, flush_i, update_i, remove_i,
  input vm_t submit_vm_i, flush_vm_i, head_vm_i, update_vm_i,
  input io_request_t request_i,
  input io_length_t update_progress_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic refused;
  logic [NumVms-1:0][1:0] count;
  logic [NumVms-1:0] pending;
  io_request_t head;
  io_length_t progress;
  io_ring #(.NumVms(NumVms), .Depth(Depth)) dut (
    .clk_i, .rst_ni(rst_n), .submit_i(submit_i && rst_n), .submit_vm_i,
    .submit_request_i(request_i), .refused_o(refused), .count_o(count), .flush_i, .flush_vm_i,
    .pending_o(pending), .head_vm_i, .head_o(head), .progress_o(progress),
    .update_i(update_i && rst_n), .update_vm_i, .update_remove_i(remove_i), .update_progress_i
  );

  // The arbiter updates only requests that exist.
  always_comb if (update_i) assume (update_vm_i < vm_t'(NumVms) && pending[update_vm_i[0]]);

  // A FIFO of an arbitrary VM, by the definition: at most two requests, the older one first.
  (* keep *) logic any;
  always_ff @(posedge clk_i) any <= any;
  io_request_t first_q, second_q;
  logic [1:0] number_q = 2'd0;
  io_length_t progress_q = '0;
  logic submits, removes, flushes;
  assign submits = rst_n && submit_i && submit_vm_i == vm_t'(any) && number_q != 2'd2;
  assign removes = rst_n && update_i && update_vm_i == vm_t'(any) && remove_i;
  assign flushes = flush_i && flush_vm_i == vm_t'(any);
  always_ff @(posedge clk_i) begin
    if (submits && number_q == 2'd0) first_q <= request_i;
    else if (removes) first_q <= submits ? request_i : second_q;
    if (submits && number_q == 2'd1) second_q <= request_i;
    number_q <= flushes ? 2'd0 : number_q + 2'(submits) - 2'(removes);
    if (flushes || removes) progress_q <= '0;
    else if (rst_n && update_i && update_vm_i == vm_t'(any)) progress_q <= update_progress_i;
  end

  always_ff @(posedge clk_i) if (rst_n) begin
    assert (count[any] == number_q && pending[any] == (number_q != 2'd0));
    assert (number_q <= 2'd2);
    // invariants: the memory's rows
    if (number_q != 2'd0)
      assert (dut.requests[{3'b0, any, dut.next[any][0] ^ number_q[0]}] == first_q);
    if (number_q == 2'd2) assert (dut.requests[{3'b0, any, !dut.next[any][0]}] == second_q);
    if (dut.begun_q[any]) assert (dut.progress[{3'b0, any}] == progress_q);
    else assert (progress_q == '0);

    if (head_vm_i == vm_t'(any) && number_q != 2'd0)
      assert (head == first_q && progress == progress_q);
    if (submit_i && submit_vm_i == vm_t'(any)) assert (refused == (number_q == 2'd2));
    if (submit_i && submit_vm_i >= vm_t'(NumVms)) assert (refused);
    cover (number_q == 2'd2 && progress_q != '0 && head_vm_i == vm_t'(any) && any);
    cover (submits && removes);
  end
endmodule
