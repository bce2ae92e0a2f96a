// SPDX-License-Identifier: Apache-2.0
// Proves region_gate: decoupled, every output is 0; coupled, the gate is transparent.
module region_gate_props
  import region_pkg::*;
(
  input logic clk_i,
  input logic couple_i,
  input region_rsp_t rsp_i
);
  region_rsp_t rsp;

  region_gate dut (.couple_i, .rsp_i, .rsp_o(rsp));

  always_ff @(posedge clk_i) begin
    if (!couple_i) assert (rsp == '0);
    else assert (rsp == rsp_i);
    cover (couple_i && rsp.out_valid && rsp.ctx_last);
  end
endmodule
