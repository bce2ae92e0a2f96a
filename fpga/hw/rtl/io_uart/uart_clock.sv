// SPDX-License-Identifier: Apache-2.0
// The times of the shared UART: a bit of the line, eight bits, and the age at which incomplete
// lines are sent. It serves io_uart; the transmitter follows its bits, the receiver has a count of
// its own.
module uart_clock (
  input  logic        clk_i,
  /// Asynchronous, active low; all three outputs are high during it and in the first cycle after
  /// it, in which a bit begins.
  input  logic        rst_ni,
  /// Cycles of a bit, at least 16.
  input  logic [15:0] divider_i,
  /// Time from one age_o to the next, in times of eight bits, less one. A new value has effect
  /// after the next age_o.
  input  logic [11:0] flush_time_i,
  /// Pulses of one cycle, combinational from the counters: a bit begins; with every eighth bit_o;
  /// with one of flush_time_i + 1 eight_o.
  output logic        bit_o,
  output logic        eight_o,
  output logic        age_o
);

  logic [15:0] cycle_q;
  logic [2:0] bit_q;
  logic [11:0] eight_q;

  // A new divider has effect with the next bit.
  assign bit_o   = cycle_q == '0;
  assign eight_o = bit_o && bit_q == '0;
  assign age_o   = eight_o && eight_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycle_q <= '0;
      bit_q   <= '0;
      eight_q <= '0;
    end else begin
      cycle_q <= bit_o ? divider_i - 1'b1 : cycle_q - 1'b1;
      if (bit_o) bit_q <= bit_q - 1'b1;
      if (eight_o) eight_q <= age_o ? flush_time_i : eight_q - 1'b1;
    end
  end

endmodule
