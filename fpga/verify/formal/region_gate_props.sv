// SPDX-License-Identifier: Apache-2.0
// Proves region_gate: decoupled, every output is 0; coupled, the responses are those of the cycle
// before, and so are the requests; neither changes within a cycle. A beat or a context word has
// moved only if the region drove it in a cycle in which it saw ready.
module region_gate_props
  import region_pkg::*;
(
  input logic clk_i,
  input logic couple_i,
  input region_req_t req_i,
  input region_rsp_t rsp_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  region_req_t req, was_asked, expected;
  region_rsp_t rsp, was_driven;
  logic out_moved, ctx_moved, was_coupled, was_rst_n, saw_out_ready, saw_ctx_ready;

  region_gate dut (
    .clk_i, .rst_ni(rst_n), .couple_i, .req_i, .req_o(req), .rsp_i, .rsp_o(rsp),
    .out_moved_o(out_moved), .ctx_moved_o(ctx_moved)
  );

  always_ff @(posedge clk_i) begin
    was_rst_n     <= rst_n;
    was_coupled   <= couple_i;
    was_asked     <= req_i;
    was_driven    <= rsp_i;
    saw_out_ready <= req.out_ready;
    saw_ctx_ready <= req.ctx_ready;
  end

  always_comb begin
    expected        = was_asked;
    expected.cmd    = req_i.cmd;
    expected.size   = req_i.size;
    expected.custom = req_i.custom;
  end

  always_ff @(posedge clk_i) begin
    if (!couple_i) assert (rsp == '0);
    if (!rst_n) assert (rsp == '0);
    if (rst_n && was_rst_n) begin
      assert (req == expected);
      if (couple_i) assert (rsp == (was_coupled ? was_driven : '0));
      assert (out_moved == (rsp.out_valid && saw_out_ready));
      assert (ctx_moved == (rsp.ctx_valid && saw_ctx_ready));
    end
    cover (couple_i && out_moved && rsp.ctx_last);
    cover (rst_n && couple_i && !was_coupled && was_driven.over);
  end
endmodule
