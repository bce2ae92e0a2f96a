// SPDX-License-Identifier: Apache-2.0
// Proves the writing DMA for any behaviour of the task, the guard and the memory: it writes only
// what the task produced, in the order of the job, obeys the AXI rules, announces no beat that it
// does not have, and is quiescent when it reports quiet.
module dma_writer_props
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  parameter int unsigned Depth = 16
) (
  input logic clk_i,
  input logic go_i, open_i, flush_i, stop_i, gnt_i, fine_i, valid_i, aw_ready_i, w_ready_i,
      b_valid_i,
  input logic [63:0] base_i,
  input logic [29:0] first_i,
  input addr_t addr_i,
  input word_t data_i,
  input slot_b_t b_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic quiet, error, check, ready, aw_valid, w_valid, b_ready;
  logic [29:0] given;
  logic [63:0] check_addr;
  beats_t check_beats;
  slot_aw_t aw;
  w_t w;

  // Started only after it was quiet for a cycle with no stream open (prr_run_props); the parameters
  // of the job are then stable, and a job has less than 2^29 beats. The guard answers in the next
  // cycle.
  logic go, was_quiet, was_quiet_long, was_go, asked_q, b_valid, arrives;
  logic [63:0] base, base_q;
  logic [29:0] first_q;
  assign go   = go_i && rst_n && was_quiet_long && was_quiet && !was_go && !first_i[29];
  assign base = go ? base_i : base_q;

  // The memory answers each burst once, after its last beat.
  logic [3:0] complete_q, announced_q;  // bursts whose data are complete; bursts whose data are not
  logic [15:0] owed_q;                  // beats that were announced and are still to be sent
  logic announces, moves, ends;
  assign b_valid   = b_valid_i && complete_q != '0;
  assign announces = aw_valid && aw_ready_i;
  assign moves     = w_valid && w_ready_i;
  assign ends      = moves && w.last;

  // A beat moves in a cycle in which the region sees ready, a cycle late, and arrives a cycle later
  // (region_gate_props).
  logic was_ready, was_ready_before;
  assign arrives = valid_i && was_ready_before && given != '1;

  dma_writer #(.Depth(Depth)) dut (
    .clk_i, .rst_ni(rst_n), .go_i(go), .open_i(open_i && !go), .flush_i, .stop_i, .base_i(base),
    .first_i, .quiet_o(quiet), .error_o(error), .given_o(given), .check_o(check),
    .check_addr_o(check_addr), .check_beats_o(check_beats), .check_gnt_i(gnt_i),
    .ok_i(asked_q && fine_i), .bad_i(asked_q && !fine_i), .addr_i, .data_i, .valid_i(arrives),
    .ready_o(ready), .aw_o(aw), .aw_valid_o(aw_valid), .aw_ready_i, .w_o(w), .w_valid_o(w_valid),
    .w_ready_i, .b_i, .b_valid_i(b_valid), .b_ready_o(b_ready)
  );

  logic was_waiting, was_w_waiting, was_open, allowed_q;
  slot_aw_t was_aw;
  w_t was_w;
  addr_t allowed_addr;
  beats_t asked_beats;
  always_ff @(posedge clk_i) begin
    was_quiet      <= rst_n && quiet && !open_i;
    was_ready        <= rst_n && ready;
    was_ready_before <= rst_n && was_ready;
    was_quiet_long <= rst_n && was_quiet && !was_go;
    was_go         <= rst_n && go;
    was_waiting    <= rst_n && aw_valid && !aw_ready_i;
    was_w_waiting  <= rst_n && w_valid && !w_ready_i;
    was_aw         <= aw;
    was_w          <= w;
    asked_q        <= rst_n && check && gnt_i;
    if (check && gnt_i) asked_beats <= check_beats;
    if (!rst_n || announces) allowed_q <= 1'b0;
    else if (asked_q) allowed_q <= fine_i && !dut.stop;
    if (asked_q) allowed_addr <= addr_i;
    owed_q      <= !rst_n ? '0 : owed_q + (announces ? 16'(aw.len) + 16'd1 : '0) - 16'(moves);
    announced_q <= !rst_n ? '0 : announced_q + 4'(announces) - 4'(ends);
    complete_q  <= !rst_n ? '0 : complete_q + 4'(ends) - 4'(b_valid);
    base_q      <= base;
    if (!rst_n) first_q <= '0;
    else if (go) first_q <= first_i;
  end

  // Position of a request in its job, in beats.
  logic [63:0] offset;
  assign offset = check_addr - base_q;

  // The sum of the announced burst lengths, minus the beats already sent.
  logic [15:0] lengths;
  always_comb begin
    lengths = '0;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < dut.i_lengths.usage_o)
        lengths = lengths + 16'(dut.i_lengths.mem[dut.i_lengths.read_q[1:0] + 2'(i)]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // Only what the task produced, whole beats, within one page.
      if (check) begin
        assert (offset[2:0] == '0 && offset[63:33] == '0 && offset[32:3] >= first_q);
        assert ({1'b0, offset[32:3]} + 31'(check_beats) <= {1'b0, given});
        assert (check_beats inside {[5'd1:5'd16]});
        assert ({1'b0, check_addr[11:3]} + 10'(check_beats) <= 10'd512);
      end
      // The bus request is what the guard allowed, with the length that was checked; it is stable
      // until accepted, and so are data.
      if (aw_valid)
        assert (allowed_q && aw.addr == 64'(allowed_addr) && 9'(aw.len) + 9'd1 == 9'(asked_beats));
      if (aw_valid) assert (aw.burst == axi_pkg::BURST_INCR && aw.size == 3'd3 && aw.atop == '0);
      if (was_waiting) assert (aw_valid && aw == was_aw);
      if (was_w_waiting) assert (w_valid && w == was_w);
      // Data are sent only after their announcement, when all of them are available, and the last
      // beat of a burst is marked.
      if (w_valid) assert (owed_q != '0 && announced_q != '0 && dut.fifo_valid && w.strb == '1);
      if (announced_q == '0) assert (owed_q == '0);
      if (announced_q != '0) assert (w_valid);  // the bus never waits
      assert (b_ready);
      // Quiet: nothing is announced, unsent or unanswered; it stays so until a stream opens or the
      // next start.
      if (quiet)
        assert (!aw_valid && !w_valid && owed_q == '0 && complete_q == '0 && announced_q == '0
                && !error);
      if (was_quiet && !was_go) assert (quiet);
      // Nothing is lost or duplicated: each beat that the task produced was announced or is in the
      // FIFO, which has space for every beat that arrives.
      if (dut.push) assert (dut.fifo_ready);
      if (!dut.stopping_q) assert (given - dut.next_q == 30'(dut.loose));

      // Invariants for the induction.
      assert (owed_q == 16'(dut.promised_q) && 5'(dut.unanswered_q) == 5'(complete_q)
              + 5'(announced_q));
      assert (3'(announced_q) == dut.i_lengths.usage_o && announced_q <= 4'd4);
      assert (16'(dut.usage) + 16'(was_ready) + 16'(was_ready_before) <= 16'(Depth));
      assert (dut.promised_q <= dut.usage && 16'(dut.usage) <= 16'(Depth));
      assert (lengths == owed_q + 16'(dut.beat_q));
      if (announced_q != '0) assert (dut.beat_q < dut.length);
      else assert (dut.beat_q == '0);
      for (int i = 0; i < 4; i++) begin
        if (3'(i) < dut.i_lengths.usage_o)
          assert (dut.i_lengths.mem[dut.i_lengths.read_q[1:0] + 2'(i)] inside {[5'd1:5'd16]});
      end
      if (!dut.stopping_q) assert (dut.next_q >= first_q && dut.next_q <= given);
      if (dut.state_q inside {2'd1, 2'd2}) begin
        assert (dut.want_q inside {[5'd1:5'd16]} && dut.want_q == asked_beats
                && dut.i_lengths.usage_o != 3'd4);
        assert (16'(dut.loose) >= 16'(dut.want_q) && dut.unanswered_q != '1);
      end
      assert (dut.state_q != 2'd3 && asked_q == (dut.state_q == 2'd1)
              && allowed_q == (dut.state_q == 2'd2));
      if (allowed_q) assert (dut.host_q == allowed_addr);
    end
    cover (rst_n && aw_valid && aw.len == 8'd1);
    cover (rst_n && quiet && given == 30'd3 && !dut.stopping_q);
  end
endmodule
