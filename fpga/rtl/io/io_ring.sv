// SPDX-License-Identifier: Apache-2.0
// The requests that the VMs have submitted to one device: a FIFO for each VM, and how far its first request
// is. A VM that submits more than its FIFO takes loses these requests, and no other VM notices.
module io_ring
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Requests of a VM, a power of two, 2..16.
  parameter int unsigned Depth = 4,
  localparam int unsigned SlotBits = $clog2(Depth)
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // the VMs' side
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
  // the arbiter's side
  output logic [NumVms-1:0] pending_o,
  /// The VM whose first request is read, in the same cycle.
  input  vm_t         head_vm_i,
  output io_request_t head_o,
  /// Bytes of it that the device has done.
  output io_length_t  progress_o,
  /// Pulse: sets the progress of the first request of update_vm_i, or removes that request.
  input  logic        update_i,
  input  vm_t         update_vm_i,
  input  logic        update_remove_i,
  input  io_length_t  update_progress_i
);

  localparam int unsigned Rows = 16 * Depth;

  io_request_t requests [Rows];
  io_length_t progress [16];
  logic [NumVms-1:0][SlotBits:0] write_q, read_q;
  logic [NumVms-1:0] begun_q;  // the first request has made progress, which the memory holds

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic submits, updates, removes, flushes;
    assign submits = submit_i && submit_vm_i == vm_t'(v) && count_o[v] != (SlotBits + 1)'(Depth);
    assign updates = update_i && update_vm_i == vm_t'(v) && pending_o[v];
    assign removes = updates && update_remove_i;
    assign flushes = flush_i && flush_vm_i == vm_t'(v);

    assign count_o[v]   = write_q[v] - read_q[v];
    assign pending_o[v] = write_q[v] != read_q[v];

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        write_q[v] <= '0;
        read_q[v]  <= '0;
        begun_q[v] <= 1'b0;
      end else begin
        if (submits) write_q[v] <= write_q[v] + 1'b1;
        // A request that is submitted in the cycle of a flush is flushed, too.
        if (flushes) read_q[v] <= submits ? write_q[v] + 1'b1 : write_q[v];
        else if (removes) read_q[v] <= read_q[v] + 1'b1;
        if (flushes || removes) begun_q[v] <= 1'b0;
        else if (updates) begun_q[v] <= 1'b1;
      end
    end
  end

  logic [SlotBits-1:0] write_slot, read_slot;
  logic full, head_begun;
  always_comb begin
    write_slot = '0;
    full       = 1'b1;
    read_slot  = '0;
    head_begun = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (submit_vm_i == vm_t'(v)) begin
        write_slot = write_q[v][SlotBits-1:0];
        full       = count_o[v] == (SlotBits + 1)'(Depth);
      end
      if (head_vm_i == vm_t'(v)) begin
        read_slot  = read_q[v][SlotBits-1:0];
        head_begun = begun_q[v];
      end
    end
  end
  assign refused_o  = submit_i && full;
  assign head_o     = requests[{head_vm_i, read_slot}];
  assign progress_o = head_begun ? progress[head_vm_i] : '0;

  always_ff @(posedge clk_i) begin
    if (submit_i && !full) requests[{submit_vm_i, write_slot}] <= submit_request_i;
    if (update_i) progress[update_vm_i] <= update_progress_i;
  end

endmodule
