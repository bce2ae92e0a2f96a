// SPDX-License-Identifier: Apache-2.0
// The phases of a line, or of a frame: sync, back porch, active, front porch. It starts with sync,
// so that the edges of the vertical sync are those of a horizontal one. display_timing has one for
// each axis.
module display_axis
  import display_pkg::*;
(
  input  logic   clk_i,
  /// Steps of each phase; stable while clear_i is low.
  input  axis_t  lengths_i,
  /// Level: to the start of the first phase; up after a reset.
  input  logic   clear_i,
  /// Pulse: the next pixel, or the next line; the outputs change in the next cycle.
  input  logic   step_i,
  output phase_e phase_o,
  /// Steps in the phase before the current one, and that number and 1.
  output coord_t position_o,
  output coord_t next_o,
  /// The current step is the last one of the phase.
  output logic   ends_o
);

  coord_t length;
  always_comb begin
    unique case (phase_o)
      AxSync:   length = lengths_i.sync;
      AxBack:   length = lengths_i.back;
      AxActive: length = lengths_i.active;
      default:  length = lengths_i.front;
    endcase
  end

  assign next_o = position_o + 1'b1;
  assign ends_o = next_o == length;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      phase_o    <= AxSync;
      position_o <= '0;
    end else if (step_i) begin
      if (ends_o) phase_o <= phase_e'(phase_o + 2'd1);
      // The comparison is for equality, so a length of 0 counts as 65536.
      position_o <= ends_o ? '0 : next_o;
    end
  end

endmodule
