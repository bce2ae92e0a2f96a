// SPDX-License-Identifier: Apache-2.0
// Counts violations of the AXI protocol at the fabric's memory port.
module cosim_axi_check
  import fabric_axi_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; the count is 0 after it.
  input  logic        rst_ni,
  /// The port, observed only.
  input  mgr_req_t    req_i,
  input  mgr_resp_t   resp_i,
  /// Violations since the reset, counted in the cycle after each.
  output logic [31:0] complaints_o
);

  // A request that has not been taken stays as it is.
  mgr_aw_t aw_q;
  mgr_ar_t ar_q;
  w_t w_q;
  logic aw_waits_q, ar_waits_q, w_waits_q;

  // Bursts are INCR with beats of 8 bytes, aligned, and within a page.
  function automatic logic odd_burst(input logic [63:0] addr, input logic [7:0] len,
                                     input logic [2:0] size, input logic [1:0] burst);
    logic [12:0] last;
    last = {1'b0, addr[11:0]} + {2'b0, len, 3'b0};
    return size != 3'd3 || burst != axi_pkg::BURST_INCR || addr[2:0] != '0 || last[12];
  endfunction

  // Lengths of the accepted write bursts, in order: W.last comes with the last beat.
  logic [7:0] len;
  logic len_valid, wrong_last, taken;
  logic [7:0] beat_q;
  assign taken      = req_i.w_valid && resp_i.w_ready;
  assign wrong_last = taken && (!len_valid || (req_i.w.last != (beat_q == len)));
  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(8), .T(logic [7:0])) i_lengths (
    .clk_i, .rst_ni, .flush_i(1'b0), .testmode_i(1'b0), .usage_o(), .data_i(req_i.aw.len),
    .valid_i(req_i.aw_valid && resp_i.aw_ready), .ready_o(), .data_o(len), .valid_o(len_valid),
    .ready_i(taken && req_i.w.last)
  );

  // Conditions that are seldom true come first: the rest of a process is then not evaluated.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    automatic logic changed, odd;
    changed = 1'b0;
    odd     = 1'b0;
    if (!rst_ni) begin
      {aw_waits_q, ar_waits_q, w_waits_q} <= '0;
      {aw_q, ar_q, w_q, beat_q, complaints_o} <= '0;
    end else begin
      if (aw_waits_q) changed |= !req_i.aw_valid || req_i.aw != aw_q;
      if (ar_waits_q) changed |= !req_i.ar_valid || req_i.ar != ar_q;
      if (w_waits_q) changed |= !req_i.w_valid || req_i.w != w_q;
      aw_waits_q <= req_i.aw_valid && !resp_i.aw_ready;
      ar_waits_q <= req_i.ar_valid && !resp_i.ar_ready;
      w_waits_q  <= req_i.w_valid && !resp_i.w_ready;
      if (req_i.aw_valid) begin
        odd |= odd_burst(req_i.aw.addr, req_i.aw.len, req_i.aw.size, req_i.aw.burst);
        if (!resp_i.aw_ready) aw_q <= req_i.aw;
      end
      if (req_i.ar_valid) begin
        odd |= odd_burst(req_i.ar.addr, req_i.ar.len, req_i.ar.size, req_i.ar.burst);
        if (!resp_i.ar_ready) ar_q <= req_i.ar;
      end
      if (req_i.w_valid && !resp_i.w_ready) w_q <= req_i.w;
      if (taken) beat_q <= req_i.w.last ? '0 : beat_q + 1'b1;
      if (changed || odd || wrong_last) begin
        complaints_o <= complaints_o + 32'(changed) + 32'(odd) + 32'(wrong_last);
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, req_i, resp_i};

endmodule
