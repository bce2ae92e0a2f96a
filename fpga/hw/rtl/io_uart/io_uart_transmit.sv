// SPDX-License-Identifier: Apache-2.0
// Sends bytes on the line, for io_uart: a start bit, eight bits, the lowest first, a stop bit. The
// next byte is accepted during the stop bit, and follows it without a gap.
module io_uart_transmit (
  input  logic       clk_i,
  /// Asynchronous, active low; the line is high after it, also within a byte.
  input  logic       rst_ni,
  /// Pulse: the next bit starts.
  input  logic       bit_i,
  /// Pulse, when ready_o.
  input  logic       send_i,
  input  logic [7:0] byte_i,
  /// High while no byte, or only its stop bit, is on the line.
  output logic       ready_o,
  /// A register, that changes in the cycle after bit_i.
  output logic       tx_o
);

  logic [8:0] shift_q;
  logic [3:0] left_q;  // bits that have not begun

  assign ready_o = left_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      shift_q <= '1;
      left_q  <= '0;
      tx_o    <= 1'b1;
    end else if (send_i) begin
      shift_q <= {byte_i, 1'b0};
      left_q  <= 4'd10;
      if (bit_i) tx_o <= 1'b1;
    end else if (bit_i) begin
      tx_o    <= shift_q[0];
      shift_q <= {1'b1, shift_q[8:1]};
      if (!ready_o) left_q <= left_q - 1'b1;
    end
  end

endmodule
