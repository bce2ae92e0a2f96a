// SPDX-License-Identifier: Apache-2.0
// Proves the reading DMA for any behaviour of the task, the guard and the memory: it requests only
// addresses of its job, obeys the AXI rules, has space for all data that arrive, loses and
// duplicates nothing, and is quiescent when it reports quiet.
module dma_reader_props
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input logic clk_i,
  input logic go_i, stop_i, gnt_i, fine_i, ready_i, ar_ready_i, r_valid_i,
  input logic [63:0] base_i,
  input logic [29:0] first_i, beats_i,
  input addr_t addr_i,
  input slot_r_t r_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic quiet, error, check, valid, last, ar_valid, r_ready;
  logic [29:0] taken;
  logic [63:0] check_addr;
  word_t data;
  beats_t check_beats;
  slot_ar_t ar;

  // Started only after it was stopped in its last job and was quiet for a cycle (prr_run_props,
  // icap_ctrl_props); the parameters of the job are then stable. A job ends after its start, and
  // the guard answers in the next cycle.
  logic go, was_quiet, was_quiet_long, was_go, stopped_q, asked_q, r_valid;
  logic [63:0] base, base_q;
  logic [29:0] first, first_q, beats, beats_q;
  assign go    = go_i && was_quiet_long && was_quiet && !was_go && stopped_q && first_i <= beats_i
                 && rst_n;
  assign base  = go ? base_i : base_q;
  assign first = go ? first_i : first_q;
  assign beats = go ? beats_i : beats_q;

  // The memory returns exactly the beats that were requested.
  logic [15:0] owed_q;
  assign r_valid = r_valid_i && owed_q != '0;

  dma_reader #(.Depth(Depth)) dut (
    .clk_i, .rst_ni(rst_n), .go_i(go), .stop_i, .base_i(base), .first_i(first), .beats_i(beats),
    .quiet_o(quiet), .error_o(error), .taken_o(taken), .check_o(check), .check_addr_o(check_addr),
    .check_beats_o(check_beats), .check_gnt_i(gnt_i), .ok_i(asked_q && fine_i),
    .bad_i(asked_q && !fine_i), .addr_i, .data_o(data), .valid_o(valid), .last_o(last), .ready_i,
    .ar_o(ar), .ar_valid_o(ar_valid), .ar_ready_i, .r_i, .r_valid_i(r_valid), .r_ready_o(r_ready)
  );

  logic was_waiting, allowed_q;
  slot_ar_t was_ar;
  addr_t allowed_addr;
  beats_t asked_beats;
  always_ff @(posedge clk_i) begin
    was_quiet   <= rst_n && quiet;
    was_quiet_long <= rst_n && was_quiet && !was_go;
    was_go      <= rst_n && go;
    stopped_q   <= !rst_n || ((stopped_q || stop_i) && !go);
    was_waiting <= rst_n && ar_valid && !ar_ready_i;
    was_ar      <= ar;
    asked_q     <= rst_n && check && gnt_i;
    if (check && gnt_i) asked_beats <= check_beats;
    if (!rst_n || (ar_valid && ar_ready_i)) allowed_q <= 1'b0;
    else if (asked_q) allowed_q <= fine_i && !stop_i;
    if (asked_q) allowed_addr <= addr_i;
    owed_q  <= !rst_n ? '0 : owed_q + (ar_valid && ar_ready_i ? 16'(ar.len) + 16'd1 : '0)
               - 16'(r_valid && r_ready);
    base_q  <= base;
    first_q <= rst_n ? first : '0;
    beats_q <= rst_n ? beats : '0;
  end

  // Position of a request in its job, in beats.
  logic [63:0] offset;
  assign offset = check_addr - base_q;

  logic [15:0] occupied;
  assign occupied = 16'(dut.usage) + 16'(dut.coming_q);

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // Only addresses of the job, whole beats, within one page.
      if (check) begin
        assert (offset[2:0] == '0 && offset[63:33] == '0 && offset[32:3] >= first_q);
        assert ({1'b0, offset[32:3]} + 31'(check_beats) <= {1'b0, beats_q});
        assert (check_beats inside {[5'd1:5'd16]});
        assert ({1'b0, check_addr[11:3]} + 10'(check_beats) <= 10'd512);
      end
      // The bus request is what the guard allowed, with the length that was checked; it is stable
      // until accepted.
      if (ar_valid)
        assert (allowed_q && ar.addr == 64'(allowed_addr) && 9'(ar.len) + 9'd1 == 9'(asked_beats));
      if (ar_valid) assert (ar.burst == axi_pkg::BURST_INCR && ar.size == 3'd3);
      if (was_waiting) assert (ar_valid && ar == was_ar);
      // Memory never waits, and no wanted beat finds the FIFO full.
      assert (r_ready);
      if (r_valid && !dut.dropping_q) assert (dut.usage < ($clog2(Depth) + 1)'(Depth));
      // Quiet: no request is valid and no beat is outstanding; it stays so until the next start.
      if (quiet) assert (!ar_valid && owed_q == '0 && !error && !asked_q);
      if (was_quiet && !was_go) assert (quiet);
      // Nothing is lost or duplicated: each beat that has arrived was taken or is in the FIFO.
      if (!dut.dropping_q) assert (dut.next_q == taken + 30'(occupied));
      if (valid && !stop_i) assert (taken < beats_q && last == (taken + 30'd1 == beats_q));

      // Invariants for the induction.
      assert (owed_q == 16'(dut.coming_q) && occupied <= 16'(Depth) && first_q <= beats_q);
      assert (dut.next_q <= beats_q && (stopped_q || taken <= dut.next_q));
      if (stopped_q) assert (dut.usage == '0);
      if (dut.dropping_q) assert (stopped_q);
      if (stopped_q && !dut.dropping_q) assert (dut.coming_q == '0 && dut.state_q == 2'd0);
      if (!dut.dropping_q && !stopped_q) assert (dut.next_q >= first_q);
      if (dut.state_q inside {2'd1, 2'd2}) assert (!dut.dropping_q && !stopped_q);
      if (dut.dropping_q) assert (dut.usage == '0);
      if (dut.state_q inside {2'd2, 2'd3}) begin
        assert (dut.want_q inside {[5'd1:5'd16]} && dut.want_q == asked_beats);
        assert (occupied + 16'(dut.want_q) <= 16'(Depth));
        assert ({1'b0, dut.next_q} + 31'(dut.want_q) <= {1'b0, beats_q});
      end
      assert (asked_q == (dut.state_q == 2'd2));
      assert (allowed_q == (dut.state_q == 2'd3));
      if (allowed_q) assert (dut.host_q == allowed_addr);
    end
    cover (rst_n && ar_valid && ar.len == 8'd15);
    cover (rst_n && taken == 30'd3 && last);
  end
endmodule
