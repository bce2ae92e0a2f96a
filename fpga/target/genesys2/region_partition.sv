// SPDX-License-Identifier: Apache-2.0
// What a region of the Genesys2 holds: a region_port and one HW task. Synthesized out of context
// once for each task (dfx.tcl). The ports are plain vectors, because tools name the members of a
// struct at a boundary differently.
module region_partition
  import region_pkg::*;
#(
  /// The task's number, as in fabric_pkg.
  parameter int unsigned Task = 1
) (
  /// Clock and region_rst_no of the fabric.
  input  logic                           clk_i,
  input  logic                           rst_ni,
  /// A region_req_t and a region_rsp_t, with the contract of region_pkg.
  input  logic [$bits(region_req_t)-1:0] req_i,
  output logic [$bits(region_rsp_t)-1:0] rsp_o
);

  region_req_t task_req;
  region_rsp_t task_rsp, rsp;
  region_port i_port (
    .clk_i,
    .rst_ni,
    .req_i(region_req_t'(req_i)),
    .rsp_o(rsp),
    .task_req_o(task_req),
    .task_rsp_i(task_rsp)
  );
  hwtask_any #(.Task(fabric_pkg::task_t'(Task))) i_task (
    .clk_i,
    .rst_ni,
    .req_i(task_req),
    .rsp_o(task_rsp)
  );
  assign rsp_o = rsp;

endmodule
