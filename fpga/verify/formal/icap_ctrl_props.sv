// SPDX-License-Identifier: Apache-2.0
// Proves the configuration control for any contents of memory and any behaviour of the ICAP: words
// reach the ICAP only while the selected region waits for them, only after a correct header, never
// more than the header announces and, with verify, only after the checksum was verified; a region
// gets exactly one result, when no read is outstanding; memory is only read; a bitstream that
// failed after its first word is aborted.
//
// Assumptions: a region stays in Reconfig until it gets the result (prr_fsm_props; fabric_top
// blocks cancellations), and memory returns exactly what was requested. ICAP_ADDR and ICAP_LENGTH
// may change at any time.
module icap_ctrl_props
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  localparam int unsigned NumPrrs = 3
) (
  input logic clk_i,
  input logic start_i, verify_i, cfg_ready_i, cfg_error_i, ar_ready_i, r_valid_i,
  input prr_t prr_i,
  input logic [63:0] addr_i,
  input logic [31:0] length_i,
  input prr_state_e [NumPrrs-1:0] state_i,
  input task_t [NumPrrs-1:0] target_i,
  input slot_r_t r_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic busy, over, cfg_valid, aborted;
  prr_t prr;
  task_t found;
  logic [3:0] error;
  logic [31:0] cycles, words, cfg_data;
  logic [NumPrrs-1:0] done, failed;
  slot_req_t req;
  slot_resp_t resp;

  // The manager's parameters at the start; a waiting region keeps waiting until it gets the result.
  logic [63:0] addr, addr_q;
  logic [31:0] length, length_q;
  logic waited_q;
  task_t target_q;
  prr_state_e [NumPrrs-1:0] state;
  task_t [NumPrrs-1:0] target;
  assign addr   = busy ? addr_q : addr_i;
  assign length = busy ? length_q : length_i;
  always_comb begin
    state  = state_i;
    target = target_i;
    for (int p = 0; p < int'(NumPrrs); p++) begin
      if (busy && prr == prr_t'(p)) begin
        state[p]  = StReconfig;
        target[p] = target_q;
      end
    end
  end

  // The memory returns exactly the beats that were requested.
  logic [15:0] owed_q;
  logic asked;
  assign asked = req.ar_valid && ar_ready_i;
  always_comb begin
    resp          = '0;
    resp.ar_ready = ar_ready_i;
    resp.r        = r_i;
    resp.r_valid  = r_valid_i && owed_q != '0;
  end

  icap_ctrl #(.NumPrrs(NumPrrs)) dut (
    .clk_i, .rst_ni(rst_n), .start_i, .prr_i, .verify_i, .addr_i, .length_i, .busy_o(busy),
    .prr_o(prr), .task_o(found), .error_o(error), .cycles_o(cycles), .words_o(words), .over_o(over),
    .state_i(state), .target_i(target), .done_o(done), .fail_o(failed), .cfg_valid_o(cfg_valid),
    .cfg_data_o(cfg_data), .cfg_ready_i, .cfg_error_i, .cfg_abort_o(aborted), .axi_req_o(req),
    .axi_resp_i(resp)
  );

  // Beats that the reader has outstanding or in its FIFO.
  logic [15:0] occupied;
  assign occupied = 16'(dut.i_reader.usage) + 16'(dut.i_reader.coming_q);

  // States of icap_ctrl, with the same names.
  localparam logic [2:0] Idle = 3'd0, Header = 3'd1, Body = 3'd2, Sum = 3'd3, End = 3'd4,
                                Drain = 3'd5;
  logic [2:0] at;
  assign at = dut.state_q;

  logic first_q = 1'b0;  // the first cycle after the reset
  logic was_busy, was_waiting, verified_q, to_verify_q, had_result, was_bad;
  slot_ar_t was_ar;
  logic [31:0] sent_q;
  always_ff @(posedge clk_i) begin
    was_busy    <= rst_n && busy;
    first_q     <= !rst_n;
    was_waiting <= rst_n && req.ar_valid && !ar_ready_i;
    was_ar      <= req.ar;
    had_result    <= rst_n && (done != '0 || failed != '0);
    was_bad     <= rst_n && at == Sum && dut.word_take && dut.word != ~dut.crc_q;
    addr_q      <= addr;
    length_q    <= length;
    owed_q      <= !rst_n ? '0 : owed_q + (asked ? 16'(req.ar.len) + 16'd1 : '0)
                   - 16'(resp.r_valid);
    if (!busy) begin
      waited_q <= 1'b0;
      for (int p = 0; p < int'(NumPrrs); p++) begin
        if (prr_i == prr_t'(p)) begin
          target_q <= target_i[p];
          waited_q <= state_i[p] == StReconfig;
        end
      end
      to_verify_q <= verify_i;
      verified_q  <= 1'b0;
      sent_q      <= '0;
    end else begin
      if (at == Sum && dut.word_take && dut.word == ~dut.crc_q) verified_q <= 1'b1;
      if (cfg_valid && cfg_ready_i) sent_q <= sent_q + 32'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // A word for the ICAP: the region waits, the header named the region and its task, and the
      // word is one of those that the header announced.
      if (cfg_valid) begin
        assert (busy && waited_q && int'(prr) < int'(NumPrrs) && error == '0);
        assert (dut.header_q[0] == 32'h53494d42 && dut.header_q[1][31:24] == 8'(prr)
                && found == target_q);
        assert (dut.header_q[2] + 32'd5 == {2'b0, length_q[31:2]} && sent_q < dut.header_q[2]);
        assert (!to_verify_q || verified_q);
      end
      // A region gets one result: success only when all words were sent and the checksum was
      // correct, and no read is outstanding then.
      assert ($onehot0({done, failed}));
      if (done != '0 || failed != '0) assert (over && owed_q == '0 && !req.ar_valid && !cfg_valid);
      if (done != '0)
        assert (error == '0 && sent_q == dut.header_q[2] && sent_q != '0 && verified_q);
      for (int p = 0; p < int'(NumPrrs); p++) if (done[p] || failed[p]) assert (prr == prr_t'(p));
      if (had_result) assert (!busy);
      // A bitstream that failed after its first word is aborted, and one that a reset may have cut;
      // no other.
      assert (aborted == ((failed != '0 && sent_q != '0) || first_q));
      assert (!(first_q && cfg_valid));
      if (was_busy && !busy) assert (had_result);
      if (was_bad) assert (error != '0);
      // The bus: only reads, stable until accepted; idle when not busy.
      assert (!req.aw_valid && !req.w_valid);
      if (was_waiting) assert (req.ar_valid && req.ar == was_ar);
      if (!busy) assert (!req.ar_valid && owed_q == '0);

      // Invariants for the induction.
      assert (dut.reset_q == first_q && (!first_q || at == Idle));
      assert (at <= Drain && owed_q == 16'(dut.i_reader.coming_q) && error <= 4'd8);
      assert (occupied <= 16'd128);
      if (dut.i_reader.state_q inside {2'd2, 2'd3}) begin
        assert (dut.i_reader.want_q inside {[5'd1:5'd16]}
                && occupied + 16'(dut.i_reader.want_q) <= 16'd128);
      end
      if (busy) assert (waited_q && int'(prr) < int'(NumPrrs));
      if (at inside {Header, Body, Sum}) assert (error == '0);
      if (busy) assert (words == sent_q && dut.addr_q == addr_q && dut.length_q == length_q);
      if (busy)
        assert (dut.i_reader.base_i == addr_q
                && dut.i_reader.beats_i == 30'((33'(length_q) + 33'd7) >> 3));
      if (at inside {Idle, Drain}) assert (dut.i_reader.state_q == 2'd0 && owed_q == '0);
      if (dut.again_q) assert (at == Drain && !dut.verifying_q && error == '0);
      if (busy && !dut.verifying_q) assert (!to_verify_q || verified_q);
      if (busy && dut.verifying_q) assert (to_verify_q && sent_q == '0);
      if (at inside {Body, Sum} || (at inside {End, Drain} && error == '0 && !dut.again_q)) begin
        assert (dut.header_q[0] == 32'h53494d42 && dut.header_q[1][31:24] == 8'(prr)
                && found == target_q);
        assert (dut.header_q[2] + 32'd5 == {2'b0, length_q[31:2]} && dut.header_q[2] != '0);
      end
      if (at == Header || dut.again_q) assert (sent_q == '0);
      if (at == Body) assert (dut.count_left_q != '0 && dut.count_left_q <= dut.header_q[2]);
      if (at == Body && !dut.verifying_q) assert (sent_q + dut.count_left_q == dut.header_q[2]);
      if (!dut.verifying_q && (at == Sum || (at inside {End, Drain} && error == '0
                                             && !dut.again_q)))
        assert (sent_q == dut.header_q[2]);
      if (at inside {End, Drain} && error == '0) assert (verified_q);
    end
    cover (rst_n && done[1]);
  end
endmodule
