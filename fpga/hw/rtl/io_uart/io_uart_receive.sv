// SPDX-License-Identifier: Apache-2.0
// Receives bytes from the line, and samples each bit in its middle. A byte whose stop bit is low
// has a framing error; after it the receiver waits until the line is high.
module io_uart_receive
  import io_uart_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; the line must be high once before a start bit is seen.
  input  logic        rst_ni,
  /// Cycles of a bit, at least 16.
  input  logic [15:0] divider_i,
  /// Asynchronous; passes two flip-flops.
  input  logic        rx_i,
  /// A byte, from the middle of its stop bit until it is taken with take_i, a pulse. A byte that is
  /// not taken before the next one is complete is replaced by it: there are about ten bits of time.
  output logic        valid_o,
  output uart_received_t received_o,
  input  logic        take_i
);

  // armed_q: the line was high, so that a low level is a start bit.
  logic meta_q, rx_q, busy_q, armed_q, sample;
  logic [15:0] cycle_q;
  logic [3:0] bit_q;  // 0: the start bit, 9: the stop bit
  logic [7:0] shift_q;

  assign sample = cycle_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {rx_q, meta_q} <= '1;
    else {rx_q, meta_q} <= {meta_q, rx_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      armed_q    <= 1'b0;
      cycle_q    <= '0;
      bit_q      <= '0;
      shift_q    <= '0;
      valid_o    <= 1'b0;
      received_o <= '0;
    end else begin
      if (take_i) valid_o <= 1'b0;
      if (!busy_q) begin
        armed_q <= rx_q;
        busy_q  <= armed_q && !rx_q;
        cycle_q <= divider_i >> 1;
        bit_q   <= '0;
      end else begin
        cycle_q <= sample ? divider_i - 1'b1 : cycle_q - 1'b1;
        if (sample) begin
          bit_q   <= bit_q + 1'b1;
          shift_q <= {rx_q, shift_q[7:1]};
          // A start bit that is high in its middle was a disturbance.
          if (bit_q == 4'd9 || (bit_q == '0 && rx_q)) busy_q <= 1'b0;
          if (bit_q == 4'd9) begin
            valid_o    <= 1'b1;
            received_o <= '{pause: !rx_q && shift_q == '0, frame: !rx_q, data: shift_q};
          end
        end
      end
    end
  end

endmodule
