// SPDX-License-Identifier: Apache-2.0
// Proves the servers of two VMs, with counters of 32 bits: a VM is stopped if and only if its
// chunks since the last replenishment have taken its budget, and another VM's chunks do not count.
module io_budget_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 2
) (
  input logic clk_i,
  input logic [31:0] period_i,
  input logic set_i,
  input vm_t set_vm_i,
  input logic [31:0] set_budget_i,
  input logic charge_i,
  input vm_t charge_vm_i,
  input logic [31:0] charge_cycles_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [NumVms-1:0] exhausted;
  io_budget #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .period_i, .set_i(set_i && rst_n), .set_vm_i, .set_budget_i,
    .charge_i(charge_i && rst_n), .charge_vm_i, .charge_cycles_i, .exhausted_o(exhausted)
  );

  (* keep *) logic any;
  always_ff @(posedge clk_i) any <= any;
  logic [31:0] time_q = '0, spent_q = '0;
  logic [31:0] budget_q;
  logic limited_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (rst_n && set_i && set_vm_i == vm_t'(any))
      {limited_q, budget_q} <= {set_budget_i != '0, set_budget_i};
  end
  // The period is constant, and a VM's budget is set while it has spent nothing; a VM is charged if
  // it was served, and by at most 2^16 cycles.
  logic [31:0] period_q;
  logic past = 1'b0;
  always_ff @(posedge clk_i) begin
    past     <= 1'b1;
    period_q <= period_i;
  end
  always_comb begin
    if (past) assume (period_i == period_q);
    assume (set_budget_i < 32'h80000000);
    if (set_i && set_vm_i == vm_t'(any))
      assume (spent_q == '0 && !(charge_i && charge_vm_i == vm_t'(any)));
    assume (charge_cycles_i < 32'h10000);
    for (int v = 0; v < int'(NumVms); v++) begin
      if (charge_i && charge_vm_i == vm_t'(v)) assume (!exhausted[v]);
    end
  end

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
    assert (dut.limited_q[any] == limited_q);
    if (limited_q) begin
      assert (dut.budget[{3'b0, any}] == budget_q && budget_q != '0 && budget_q < 32'h80000000);
      assert (spent_q < 32'h80010000);
    end

    assert (exhausted[any] == (limited_q && spent_q >= budget_q));
    cover (exhausted == 2'b10 && any);
    cover (past && spent_q != '0 && full);
  end
endmodule
