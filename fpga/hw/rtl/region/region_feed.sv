// SPDX-License-Identifier: Apache-2.0
// Sends a job's input to a region without waiting for an answer: the region has space for
// InputBeats beats (region_port) and reports each beat that its task takes. The answer to a beat
// comes four cycles later at the earliest, so a beat can move in every cycle. It serves prr_slot,
// which subtracts unused_o from the beats read to get the beats that the task has consumed.
module region_feed
  import region_pkg::*;
(
  input  logic         clk_i,
  /// Asynchronous, active low; no beat is in flight after it.
  input  logic         rst_ni,
  /// Pulse: a job starts or continues, and the region's space is empty.
  input  logic         go_i,
  /// Level: beats may move.
  input  logic         open_i,
  // from the DMA
  /// A beat moves when valid_i and ready_o; ready_o does not depend on valid_i, and is low while
  /// the region has no space.
  input  logic         valid_i,
  output logic         ready_o,
  // the region
  /// A beat is sent.
  output logic         valid_o,
  /// Pulse: the task has taken a beat.
  input  logic         taken_i,
  /// Beats sent that the task has not taken, 0 .. InputBeats.
  output input_count_t unused_o
);

  logic has_space, taken;

  assign has_space = unused_o != input_count_t'(InputBeats);
  assign ready_o   = open_i && has_space;
  assign valid_o   = ready_o && valid_i;
  assign taken     = taken_i && unused_o != '0;  // the region is not trusted

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unused_o <= '0;
    else if (go_i) unused_o <= '0;
    else unused_o <= unused_o + input_count_t'(valid_o) - input_count_t'(taken);
  end

endmodule
