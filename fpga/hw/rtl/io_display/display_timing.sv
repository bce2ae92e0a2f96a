// SPDX-License-Identifier: Apache-2.0
// When which pixel is sent, for io_display. After enable_i has risen it clears the line buffers;
// then it sends frames without pause, or one for each pulse of frame_i.
module display_timing
  import display_pkg::*;
#(
  /// Pixels of a line buffer, which DsClear clears, two a cycle, in both lines.
  parameter int unsigned MaxWidth = 1024,
  localparam int unsigned PosBits = $clog2(MaxWidth)
) (
  input  logic       clk_i,
  /// Asynchronous, active low; nothing is sent after it until enable_i.
  input  logic       rst_ni,
  /// Configuration, levels. The fall of enable_i ends the frame at once.
  input  logic       enable_i,
  input  logic       frame_mode_i,
  /// Pulse: sends a frame in the frame mode; one pulse is kept while a frame is sent.
  input  logic       frame_i,
  /// Both change only while enable_i is low. pixel_cycles_i of 0 counts as 1.
  input  mode_t      mode_i,
  input  logic [7:0] pixel_cycles_i,
  /// No burst is outstanding, and no line is fetched.
  input  logic       quiet_i,
  // fetch
  /// Nothing is sent, and nothing may be fetched.
  output logic       stop_o,
  /// Pulse: a line starts; next_active_o: the line after it, next_y_o, has pixels.
  output logic       line_o,
  output logic       next_active_o,
  output coord_t     next_y_o,
  // line buffers
  /// Level: clear_position_o is to be cleared.
  output logic       clear_o,
  output logic [PosBits-1:0] clear_position_o,
  // the wire
  /// Pulse: the other outputs are those of a new pixel.
  output logic       pixel_o,
  /// Position in the phase of the line; active_o: it is a visible pixel.
  output coord_t     x_o,
  output logic       active_o,
  output logic       hsync_o,
  output logic       vsync_o,
  /// Pulse: the last line of a frame's pixels has been sent.
  output logic       frame_o,
  /// Level: nothing happens until frame_i or enable_i.
  output logic       idle_o
);

  // DsClear: MaxWidth cycles. DsIdle: no frame is sent. DsRun: a frame is sent.
  typedef enum logic [1:0] {DsOff, DsClear, DsIdle, DsRun} state_e;

  state_e state_q;
  logic wanted_q, running, begins, line_ends, frame_ends;
  logic [7:0] cycle_q;  // to the next pixel, which is sent at 1 or 0
  logic [PosBits-1:0] clear_q;
  phase_e h_phase, v_phase;
  logic h_ends, v_ends;
  coord_t v_next;

  assign running    = state_q == DsRun;
  assign pixel_o    = running && cycle_q[7:1] == '0;
  assign line_ends  = pixel_o && h_phase == AxFront && h_ends;
  assign frame_ends = line_ends && v_phase == AxFront && v_ends;
  assign begins     = state_q == DsIdle && enable_i && (wanted_q || !frame_mode_i);

  display_axis i_h (
    .clk_i, .lengths_i(mode_i.h), .clear_i(!running), .step_i(pixel_o), .phase_o(h_phase),
    .position_o(x_o), .next_o(), .ends_o(h_ends)
  );
  display_axis i_v (
    .clk_i, .lengths_i(mode_i.v), .clear_i(!running), .step_i(line_ends), .phase_o(v_phase),
    .position_o(), .next_o(v_next), .ends_o(v_ends)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= DsOff;
      wanted_q <= 1'b0;
      cycle_q  <= '0;
      clear_q  <= '0;
      line_o   <= 1'b0;
    end else begin
      unique case (state_q)
        DsOff: if (enable_i && quiet_i) state_q <= DsClear;
        DsClear: if (clear_q == '1) state_q <= DsIdle;
        DsIdle: if (begins) state_q <= DsRun;
        default: if (frame_ends && frame_mode_i && !wanted_q) state_q <= DsIdle;  // DsRun
      endcase
      if (!enable_i) state_q <= DsOff;
      // wanted_q keeps one pulse of frame_i.
      if (frame_i || begins || frame_ends) wanted_q <= frame_i;
      if (!enable_i || !frame_mode_i) wanted_q <= 1'b0;
      if (pixel_o) cycle_q <= pixel_cycles_i;
      else cycle_q <= running ? cycle_q - 1'b1 : '0;
      clear_q <= state_q == DsClear ? clear_q + 1'b1 : '0;
      // A cycle later, so that the axes are at the start of the new line.
      line_o  <= enable_i && (begins || line_ends);
    end
  end

  assign next_active_o = (v_phase == AxBack && v_ends) || (v_phase == AxActive && !v_ends);
  assign next_y_o      = v_phase == AxActive ? v_next : '0;
  assign active_o      = h_phase == AxActive && v_phase == AxActive;
  assign hsync_o       = h_phase == AxSync;
  assign vsync_o       = v_phase == AxSync;
  assign frame_o       = line_ends && v_phase == AxActive && v_ends;
  assign stop_o        = !running || !enable_i;
  assign clear_o       = state_q == DsClear;
  assign clear_position_o = clear_q;
  assign idle_o        = quiet_i && (enable_i ? state_q == DsIdle && frame_mode_i && !wanted_q
                                     : state_q == DsOff);

endmodule
