// SPDX-License-Identifier: Apache-2.0
// Proves the save of a context, for a task that sends words at any time at which it sees ready, and
// any delay of the memory: every word is written once, at its place, and none is lost in the cycles
// that a word and ctx_ready take at the region's boundary.
module ctx_mover_props
  import fabric_pkg::*;
(
  input logic clk_i,
  input logic save_i, restore_i, abort_i, gnt_i, sends_i, last_i, stopped_i, ctx_ready_i,
  input task_t task_i,
  input word_t ram_data_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic done, bad, ready, ram_req, ram_we, ctx_valid, save, restore;
  logic [6:0] ram_word;
  word_t ram_data, ctx_data;

  // The task's words are numbers; it sees ready a cycle late, and a word arrives a cycle after it
  // was sent. The task sends nothing after its last word.
  logic was_ready, moves, moved, last, ended;
  word_t next, word;
  assign moves = was_ready && sends_i && !ended;

  ctx_mover dut (
    .clk_i, .rst_ni(rst_n), .save_i, .restore_i(restore_i && !save_i), .abort_i, .task_i,
    .taken_i('0), .given_i('0), .done_o(done), .bad_o(bad), .taken_o(), .given_o(),
    .ctx_save_o(save), .ctx_restore_o(restore), .stopped_i, .ctx_data_o(ctx_data),
    .ctx_valid_o(ctx_valid), .ctx_ready_i, .ctx_data_i(word), .ctx_moved_i(moved),
    .ctx_last_i(last), .ctx_ready_o(ready), .ram_req_o(ram_req), .ram_we_o(ram_we),
    .ram_word_o(ram_word), .ram_data_o(ram_data), .ram_gnt_i(gnt_i && ram_req), .ram_data_i
  );

  // States of ctx_mover.
  localparam logic [2:0] Save = 3'd1, Counts = 3'd2;
  logic saving;
  assign saving = dut.state_q == Save;

  always_ff @(posedge clk_i) begin
    was_ready <= rst_n && ready;
    moved     <= rst_n && moves && saving;
    last      <= last_i;
    word      <= next;
    if (!saving) begin
      next  <= '0;
      ended <= 1'b0;
    end else if (moves) begin
      next  <= next + 1'b1;
      ended <= last_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n && saving) begin
      if (ram_req) assert (ram_we && ram_data == 64'(dut.word_q) && ram_word == dut.word_q + 7'd2);
      if (moved) assert (dut.fifo_ready && word == 64'(dut.word_q) + 64'(dut.ahead));

      // Invariants for the induction.
      assert (dut.word_q <= 7'd118);
      assert (4'(dut.ahead) + 4'(moved) + 4'(was_ready) <= 4'd4);
      assert (next == 64'(dut.word_q) + 64'(dut.ahead) + 64'(moved));
      for (int i = 0; i < 4; i++) begin
        if (3'(i) < dut.ahead)
          assert (dut.i_ahead.mem[dut.i_ahead.read_q[1:0] + 2'(i)][63:0] == 64'(dut.word_q)
                  + 64'(i));
      end
    end
    cover (rst_n && dut.state_q == Counts && dut.total_q == 7'd9);
    cover (rst_n && saving && dut.ahead == 3'd4);
  end
endmodule
