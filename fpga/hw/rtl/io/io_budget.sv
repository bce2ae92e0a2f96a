// SPDX-License-Identifier: Apache-2.0
// A server for each VM of one device: a VM that has used its budget of cycles is not served until
// the next replenishment, which is the same for all. A chunk that has begun is not interrupted, so
// a VM uses up to one chunk more than its budget.
module io_budget
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no VM has a limit and none is exhausted after it.
  input  logic        rst_ni,
  /// Cycles from one replenishment to the next; 0: no budget is limited.
  input  logic [31:0] period_i,
  /// Pulse: sets the budget of a VM; 0, and until then: it has no limit.
  input  logic        set_i,
  input  vm_t         set_vm_i,
  /// In cycles. It counts from the VM's next charge on; an exhausted VM stays so until the next
  /// replenishment.
  input  logic [31:0] set_budget_i,
  /// Pulse: the VM has used these cycles. They count in the period in which the pulse comes; a
  /// pulse in the cycle of a replenishment counts in none.
  input  logic        charge_i,
  input  vm_t         charge_vm_i,
  input  logic [31:0] charge_cycles_i,
  /// VMs that have used their budgets. A bit rises in the cycle after charge_i, and falls in the
  /// cycle after a replenishment.
  output logic [NumVms-1:0] exhausted_o
);

  // Cycles spent since the replenishment, and budgets, by VM, in distributed RAM without a reset.
  logic [31:0] spent [16];
  logic [31:0] budget [16];
  // Cycles since the last replenishment.
  logic [31:0] time_q, total;
  logic [NumVms-1:0] limited_q;
  // nothing is spent since the replenishment; then the memory's value is void
  logic [NumVms-1:0] untouched_q;
  logic replenish, untouched, limited, used;

  assign replenish = period_i != '0 && time_q + 1'b1 >= period_i;

  always_comb begin
    untouched = 1'b0;
    limited   = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (charge_vm_i == vm_t'(v)) begin
        untouched = untouched_q[v];
        limited   = limited_q[v];
      end
    end
  end
  assign total = (untouched ? '0 : spent[charge_vm_i]) + charge_cycles_i;

  assign used  = limited && total >= budget[charge_vm_i];

  always_ff @(posedge clk_i) begin
    // limited_q says that the word of the memory is valid.
    if (set_i) budget[set_vm_i] <= set_budget_i;
    if (charge_i) spent[charge_vm_i] <= total;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q      <= '0;
      untouched_q <= '1;
      exhausted_o <= '0;
      limited_q   <= '0;
    end else begin
      for (int v = 0; v < int'(NumVms); v++)
        if (set_i && set_vm_i == vm_t'(v)) limited_q[v] <= set_budget_i != '0;
      time_q <= replenish || period_i == '0 ? '0 : time_q + 1'b1;
      if (replenish || period_i == '0) begin
        untouched_q <= '1;
        exhausted_o <= '0;
      end else if (charge_i) begin
        for (int v = 0; v < int'(NumVms); v++) begin
          if (charge_vm_i == vm_t'(v)) begin
            untouched_q[v] <= 1'b0;
            exhausted_o[v] <= used;
          end
        end
      end
    end
  end

endmodule
