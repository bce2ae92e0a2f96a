// SPDX-License-Identifier: Apache-2.0
// A region's contents, that is a HW task and its region_port, as a Verilated class. The request is
// loaded into a register by an edge of its own, because Verilator evaluates the logic behind inputs
// in each evaluation, but the logic behind a register only when this changes.
module cosim_task
  import region_pkg::*;
#(
  /// As in fabric_pkg; 0: the probe.
  parameter int unsigned Task = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// A rising edge takes the request.
  input  logic        load_i,
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  region_req_t req_q, task_req;
  region_rsp_t task_rsp;
  always_ff @(posedge load_i) req_q <= req_i;

  region_port i_port (.clk_i, .rst_ni, .req_i(req_q), .rsp_o, .task_req_o(task_req),
                      .task_rsp_i(task_rsp));

  if (Task == 0) begin : gen_probe
    hwtask_probe i_task (.clk_i, .rst_ni, .req_i(task_req), .rsp_o(task_rsp));
  end else begin : gen_real
    hwtask_any #(.Task(fabric_pkg::task_t'(Task))) i_task (.clk_i, .rst_ni, .req_i(task_req),
                                                           .rsp_o(task_rsp));
  end

endmodule
