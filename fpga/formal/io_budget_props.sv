// SPDX-License-Identifier: Apache-2.0
// Proves the servers of two VMs, with counters of 32 bits: a VM is stopped if and only if its chunks since
// the last replenishment have taken its budget, and another VM's chunks do not count.
module io_budget_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 2
) (
  input logic clk_i,
  input logic [31:0] period_i,
  input logic [NumVms-1:0][31:0] budget_i,
  input logic charge_i,
  input vm_t charge_vm_i,
  input logic [31:0] charge_cycles_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [NumVms-1:0] exhausted;
  io_budget #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .period_i, .budget_i, .charge_i(charge_i && rst_n), .charge_vm_i, .charge_cycles_i,
    .exhausted_o(exhausted)
  );

  // The configuration is constant here; a VM is charged if it was served, and by at most 2^16 cycles.
  logic [31:0] period_q;
  logic [NumVms-1:0][31:0] budget_q;
  logic past = 1'b0;
  always_ff @(posedge clk_i) begin
    past     <= 1'b1;
    period_q <= period_i;
    budget_q <= budget_i;
  end
  always_comb begin
    if (past) assume (period_i == period_q && budget_i == budget_q);
    assume (charge_cycles_i < 32'h10000);
    for (int v = 0; v < int'(NumVms); v++) begin
      assume (budget_i[v] < 32'h80000000 && budget_i[v] != '0);
      if (charge_i && charge_vm_i == vm_t'(v)) assume (!exhausted[v]);
    end
  end

  (* keep *) logic any;
  always_ff @(posedge clk_i) any <= any;
  logic [31:0] time_q = '0, spent_q = '0;
  logic full;
  assign full = period_i == '0 || time_q + 32'd1 >= period_i;
  always_ff @(posedge clk_i) if (rst_n) begin
    time_q <= full ? '0 : time_q + 32'd1;
    if (full) spent_q <= '0;
    else if (charge_i && charge_vm_i == vm_t'(any)) spent_q <= spent_q + charge_cycles_i;
  end

  always_ff @(posedge clk_i) if (rst_n) begin
    assert (dut.time_q == time_q);
    if (dut.untouched_q[any]) assert (spent_q == '0 && !exhausted[any]);
    else assert (dut.spent[{3'b0, any}] == spent_q);
    assert (spent_q < 32'h80010000);

    assert (exhausted[any] == (spent_q >= budget_i[any]));
    cover (exhausted == 2'b10 && any);
    cover (past && spent_q != '0 && full);
  end
endmodule
