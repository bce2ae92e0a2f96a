// SPDX-License-Identifier: Apache-2.0
// The static side's registers at the boundary of one region, and its decoupling: while couple_i is
// low, all responses of the region are 0, from the cycle in which couple_i falls. A region's
// placement and timing are therefore independent of the logic on the static side.
module region_gate
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low: the region then sees an idle request, except cmd, size and custom.
  input  logic        rst_ni,
  /// Level, from a register of prr_fsm; low: responses are 0. Requests pass in either case.
  input  logic        couple_i,
  /// From the static side. cmd, size and custom must be registers that are stable during a job.
  input  region_req_t req_i,
  /// To the region, a cycle later.
  output region_req_t req_o,
  /// From the region.
  input  region_rsp_t rsp_i,
  /// To the static side, a cycle later.
  output region_rsp_t rsp_o,
  /// rsp_o has an output beat, and the region saw out_ready with it.
  output logic        out_moved_o,
  /// The same for a context word.
  output logic        ctx_moved_o
);

  region_req_t req_q;
  region_rsp_t rsp_q;
  logic out_ready_q, ctx_ready_q;  // what the region saw when it drove rsp_q

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q       <= '0;
      rsp_q       <= '0;
      out_ready_q <= 1'b0;
      ctx_ready_q <= 1'b0;
    end else begin
      req_q       <= req_i;
      rsp_q       <= couple_i ? rsp_i : '0;
      out_ready_q <= req_q.out_ready;
      ctx_ready_q <= req_q.ctx_ready;
    end
  end

  always_comb begin
    req_o        = req_q;
    // Stable during a job, so a second register would only cost area.
    req_o.cmd    = req_i.cmd;
    req_o.size   = req_i.size;
    req_o.custom = req_i.custom;
  end

  // The second gate acts in the cycle in which couple_i falls, when rsp_q still holds a response.
  assign rsp_o       = couple_i ? rsp_q : '0;
  assign out_moved_o = rsp_o.out_valid && out_ready_q;
  assign ctx_moved_o = rsp_o.ctx_valid && ctx_ready_q;

endmodule
