// SPDX-License-Identifier: Apache-2.0
// The requests that the VMs have submitted to one device: a FIFO for each VM, and how far its first
// request is. A VM that submits more than its FIFO takes loses these requests, and no other VM
// notices.
module io_ring
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// VMs of the device.
  parameter int unsigned NumVms = 4,
  /// Requests of a VM, a power of two, 2..16.
  parameter int unsigned Depth = 4,
  localparam int unsigned SlotBits = $clog2(Depth)
) (
  input  logic        clk_i,
  /// Asynchronous, active low; all FIFOs are empty after it.
  input  logic        rst_ni,
  /// The VMs' side: a pulse. The request is pending from the next cycle on.
  input  logic        submit_i,
  input  vm_t         submit_vm_i,
  input  io_request_t submit_request_i,
  /// In the cycle of submit_i: the FIFO is full, and the request is lost.
  output logic        refused_o,
  /// Requests of each VM that are not complete.
  output logic [NumVms-1:0][SlotBits:0] count_o,
  /// Pulse: removes all requests of a VM.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  /// The arbiter's side: VMs with a request, from registers.
  output logic [NumVms-1:0] pending_o,
  /// The VM whose first request is read, in the same cycle.
  input  vm_t         head_vm_i,
  output io_request_t head_o,
  /// Bytes of it that the device has done.
  output io_length_t  progress_o,
  /// Pulse: sets the progress of the first request of update_vm_i, which exists, or removes that
  /// request.
  input  logic        update_i,
  input  vm_t         update_vm_i,
  input  logic        update_remove_i,
  input  io_length_t  update_progress_i
);

  localparam int unsigned Rows = 16 * Depth;

  // In distributed RAM without a reset; count_o says which rows are valid.
  io_request_t requests [Rows];
  io_length_t progress [16];
  // the slot of the VM's next request; any slot may be the first one
  logic [SlotBits-1:0] next [16];
  logic [NumVms-1:0] begun_q;      // the first request has made progress, which the memory holds

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic submits, updates, removes, flushes;
    assign submits = submit_i && submit_vm_i == vm_t'(v) && count_o[v] != (SlotBits + 1)'(Depth);
    assign updates = update_i && update_vm_i == vm_t'(v);
    assign removes = updates && update_remove_i;
    assign flushes = flush_i && flush_vm_i == vm_t'(v);

    assign pending_o[v] = count_o[v] != '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        count_o[v] <= '0;
        begun_q[v] <= 1'b0;
      end else begin
        // A request that is submitted in the cycle of a flush is flushed, too.
        if (flushes) count_o[v] <= '0;
        else if (submits != removes) count_o[v] <= submits ? count_o[v] + 1'b1 : count_o[v] - 1'b1;
        if (flushes || removes) begun_q[v] <= 1'b0;
        else if (updates) begun_q[v] <= 1'b1;
      end
    end
  end

  logic [SlotBits-1:0] head_slot, head_count;
  logic full, head_begun;
  always_comb begin
    full       = 1'b1;
    head_count = '0;
    head_begun = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (submit_vm_i == vm_t'(v)) full = count_o[v] == (SlotBits + 1)'(Depth);
      if (head_vm_i == vm_t'(v)) begin
        head_count = count_o[v][SlotBits-1:0];
        head_begun = begun_q[v];
      end
    end
  end
  assign head_slot  = next[head_vm_i] - head_count;
  assign refused_o  = submit_i && full;
  assign head_o     = requests[{head_vm_i, head_slot}];
  assign progress_o = head_begun ? progress[head_vm_i] : '0;

  always_ff @(posedge clk_i) begin
    if (submit_i && !full) begin
      requests[{submit_vm_i, next[submit_vm_i]}] <= submit_request_i;
      next[submit_vm_i] <= next[submit_vm_i] + 1'b1;
    end
    if (update_i) progress[update_vm_i] <= update_progress_i;
  end

endmodule
