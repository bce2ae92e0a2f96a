// SPDX-License-Identifier: Apache-2.0
// Shifts bytes over SPI in mode 0, most significant bit first; a byte that is started in the last
// cycle of another one follows it without a gap. A byte takes 16 * half_i cycles. It serves
// flash_command and owns SCK and MOSI.
module spi_port (
  input  logic       clk_i,
  /// Asynchronous, active low; SCK is low after it, and a byte in progress is lost.
  input  logic       rst_ni,
  /// Cycles of half a period of SCK, at least 1.
  input  logic [7:0] half_i,
  /// Pulse, when ready_o: send byte_i.
  input  logic       start_i,
  input  logic [7:0] byte_i,
  /// High while idle and in the last cycle of a byte.
  output logic       ready_o,
  /// Pulse in the last cycle of a byte: byte_o was received.
  output logic       done_o,
  output logic [7:0] byte_o,
  // pins
  output logic       sck_o,
  output logic       mosi_o,
  /// Sampled at the end of SCK's high phase, when the device has had a whole period to drive it.
  input  logic       miso_i
);

  logic busy_q, high_q, over;
  logic [7:0] wait_q, shift_q;
  logic [2:0] bit_q;

  assign over    = wait_q == '0;
  assign done_o  = busy_q && over && high_q && bit_q == '0;
  assign ready_o = !busy_q || done_o;
  assign byte_o  = {shift_q[6:0], miso_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      high_q  <= 1'b0;
      wait_q  <= '0;
      shift_q <= '0;
      bit_q   <= '0;
    end else if (start_i && ready_o) begin
      busy_q  <= 1'b1;
      high_q  <= 1'b0;
      wait_q  <= half_i - 1'b1;
      shift_q <= byte_i;
      bit_q   <= '1;
    end else if (busy_q) begin
      wait_q <= over ? half_i - 1'b1 : wait_q - 1'b1;
      if (over) high_q <= !high_q;
      if (over && high_q) begin
        shift_q <= byte_o;
        bit_q   <= bit_q - 1'b1;
        if (bit_q == '0) busy_q <= 1'b0;
      end
    end
  end

  assign sck_o  = high_q;
  assign mosi_o = shift_q[7];

endmodule
