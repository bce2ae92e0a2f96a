// SPDX-License-Identifier: Apache-2.0
// What every device that executes requests has before its driver: the VMs' FIFOs, their budgets and
// the arbiter. It only connects them: the contracts of the ports are those of io_ring, io_budget
// and io_arbiter.
module io_channel
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Requests of a VM, a power of two, 2..16.
  parameter int unsigned Depth = 4,
  localparam int unsigned SlotBits = $clog2(Depth)
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no requests and no budgets after it.
  input  logic        rst_ni,
  /// The low bits of the time base, in cycles of clk_i; deadlines of requests are compared with it.
  input  io_time_t    now_i,
  // configuration by the manager
  input  io_policy_e  policy_i,
  /// 2^size_i: bytes of a chunk. Timeout of a chunk and period of the budgets: cycles; 0: none.
  input  logic [3:0]  size_i,
  input  logic [31:0] timeout_i,
  input  logic [31:0] period_i,
  input  prio_t [NumVms-1:0] prio_i,
  /// Pulse: sets the budget of a VM; 0, and until then: it has no limit.
  input  logic        set_budget_i,
  input  vm_t         set_vm_i,
  input  logic [31:0] set_cycles_i,
  /// VMs that may use the device now. A bit falls with changed_i, or in the cycle after a chunk of
  /// the VM.
  input  logic [NumVms-1:0] allowed_i,
  /// Pulse: policy, priorities or allowed_i have changed.
  input  logic        changed_i,
  // the VMs' requests
  /// Pulse: a request of submit_vm_i; it can be served from the next cycle on.
  input  logic        submit_i,
  input  vm_t         submit_vm_i,
  input  io_request_t submit_request_i,
  /// In the cycle of submit_i: the request is lost.
  output logic        refused_o,
  /// Requests of each VM that are not complete, 0 .. Depth.
  output logic [NumVms-1:0][SlotBits:0] count_o,
  /// Pulse: removes all requests of a VM. The one that the device executes ends without a
  /// completion.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  // the device
  /// Pulse: execute chunk_o, which is stable until done_i, the device's pulse with its result.
  output logic        start_o,
  output io_chunk_t   chunk_o,
  /// Level: the chunk exceeds the timeout; the device ends it, and still gives done_i.
  output logic        abort_o,
  /// Levels: another VM's request waits; a chunk is executed, or its completion waits.
  output logic        others_o,
  output logic        busy_o,
  input  logic        done_i,
  input  io_result_t  result_i,
  // completions
  /// A completion waits until complete_ready_i; the device is idle until then.
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i
);

  logic [NumVms-1:0] pending, exhausted;
  vm_t head_vm, update_vm, charge_vm;
  io_request_t head;
  io_length_t progress, update_progress;
  logic update, update_remove, charge;
  logic [31:0] charge_cycles;

  io_ring #(.NumVms(NumVms), .Depth(Depth)) i_ring (
    .clk_i,
    .rst_ni,
    .submit_i,
    .submit_vm_i,
    .submit_request_i,
    .refused_o,
    .count_o,
    .flush_i,
    .flush_vm_i,
    .pending_o(pending),
    .head_vm_i(head_vm),
    .head_o(head),
    .progress_o(progress),
    .update_i(update),
    .update_vm_i(update_vm),
    .update_remove_i(update_remove),
    .update_progress_i(update_progress)
  );

  io_budget #(.NumVms(NumVms)) i_budget (
    .clk_i,
    .rst_ni,
    .period_i,
    .set_i(set_budget_i),
    .set_vm_i,
    .set_budget_i(set_cycles_i),
    .charge_i(charge),
    .charge_vm_i(charge_vm),
    .charge_cycles_i(charge_cycles),
    .exhausted_o(exhausted)
  );

  io_arbiter #(.NumVms(NumVms)) i_arbiter (
    .clk_i,
    .rst_ni,
    .now_i,
    .policy_i,
    .size_i,
    .timeout_i,
    .prio_i,
    // A VM without the right to the device keeps its requests; they wait.
    .masked_i(exhausted | ~allowed_i),
    .changed_i,
    .pending_i(pending),
    .flush_i,
    .flush_vm_i,
    .head_vm_o(head_vm),
    .head_i(head),
    .progress_i(progress),
    .update_o(update),
    .update_vm_o(update_vm),
    .update_remove_o(update_remove),
    .update_progress_o(update_progress),
    .start_o,
    .chunk_o,
    .abort_o,
    .done_i,
    .result_i,
    .busy_o,
    .others_o,
    .complete_o,
    .completion_o,
    .complete_ready_i,
    .charge_o(charge),
    .charge_vm_o(charge_vm),
    .charge_cycles_o(charge_cycles)
  );

endmodule
