// SPDX-License-Identifier: Apache-2.0
// Proves the input path of a region, region_feed, the registers of region_gate and region_port, for
// any behaviour of the DMA and the task: the region has space for every beat, the task gets the
// beats of the present job in order, and the beats that were sent and not taken are known.
//
// Assumptions. A job starts (go) at least two cycles after the stream was closed, and the stream
// opens in the cycle after (prr_run). The task takes no beat before the start has reached it.
module region_feed_props
  import region_pkg::*;
(
  input logic clk_i,
  input logic go_i, open_i, valid_i, ready_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic go, open, was_go, was_open, was_open_before;
  assign go   = rst_n && go_i && !open && !was_open && !was_open_before;
  assign open = rst_n && (was_go || was_open) && open_i;

  // The beats are numbered; the number of the next beat that the DMA has.
  fabric_pkg::word_t next, expected;
  logic ready, send, starting;
  input_count_t unused_beats;
  region_req_t req, boundary, to_task;
  region_rsp_t from_task, rsp, back;

  region_feed feed (
    .clk_i, .rst_ni(rst_n), .go_i(go), .open_i(open), .valid_i, .ready_o(ready), .valid_o(send),
    .taken_i(back.in_ready), .unused_o(unused_beats)
  );
  region_gate gate (
    .clk_i, .rst_ni(rst_n), .couple_i(1'b1), .req_i(req), .req_o(boundary), .rsp_i(rsp),
    .rsp_o(back), .out_moved_o(), .ctx_moved_o()
  );
  region_port region (
    .clk_i, .rst_ni(rst_n), .req_i(boundary), .rsp_o(rsp), .task_req_o(to_task),
    .task_rsp_i(from_task)
  );

  always_comb begin
    req                = '0;
    req.start          = go;
    req.in_valid       = send;
    req.in_data        = next;
    from_task          = '0;
    from_task.in_ready = ready_i && !starting;
  end
  assign starting = go || boundary.start;

  always_ff @(posedge clk_i) begin
    was_go          <= rst_n && go;
    was_open        <= rst_n && open;
    was_open_before <= rst_n && was_open;
    if (!rst_n) next <= '0;
    else if (send) next <= next + 1'b1;
    // The first beat of a job is the next one of the DMA; the task takes the beats in order.
    if (!rst_n) expected <= '0;
    else if (go) expected <= next;
    else if (rsp.in_ready) expected <= expected + 1'b1;
  end

  // Beats in the region and on their way to it, and the answer on its way back.
  logic [3:0] known;
  assign known = 4'(region.usage) + 4'(boundary.in_valid) + 4'(back.in_ready);

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      assert (send == (valid_i && ready));
      if (boundary.in_valid) assert (region.ready);
      if (to_task.in_valid && !starting) assert (to_task.in_data == expected);
      if (!starting) assert (4'(unused_beats) == known);

      // Invariants for the induction.
      assert (unused_beats <= input_count_t'(InputBeats)
              && region.usage <= input_count_t'(InputBeats));
      if (boundary.start) assert (unused_beats == '0 && next == expected);
      else assert (next - expected == 64'(region.usage) + 64'(boundary.in_valid));
      assert (boundary.start == was_go && !boundary.ctx_restore);
      if (boundary.in_valid) assert (was_open && boundary.in_data == next - 1'b1);
      for (int i = 0; i < int'(InputBeats); i++) begin
        if (input_count_t'(i) < region.usage && !boundary.start)
          assert (region.i_fifo.mem[region.i_fifo.read_q[1:0] + 2'(i)][63:0] == expected + 64'(i));
      end
    end
    cover (rst_n && unused_beats == input_count_t'(InputBeats));
    cover (rst_n && next == 64'd8 && to_task.in_valid && expected == 64'd6);
  end
endmodule
