// SPDX-License-Identifier: Apache-2.0
// An SPI controller with the registers of SiFive's (FU540-C000 manual, chapter 19): one chip
// select, frames of eight bits on single lines, mode 0, FIFOs of 8 bytes. Linux's spi-sifive drives
// it.
module soc_spi
  import soc_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; not selected, FIFOs empty.
  input  logic        rst_ni,
  /// Pulse: registers of 32 bits. A read of RXDATA removes a byte; a write to a full TXDATA is
  /// lost.
  input  access_t     access_i,
  /// In the cycle after the access.
  output logic [63:0] data_o,
  /// Level: a watermark is crossed and its interrupt enabled.
  output logic        irq_o,
  /// SPI, mode 0: SCK has half a period of SCKDIV + 1 cycles, at most 255. miso_i is sampled at the
  /// end of SCK's high phase.
  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);

  // Offsets of the registers in words of 32 bits.
  localparam logic [6:0] RegDivider = 7'h00, RegIdle = 7'h05, RegMode = 7'h06, RegFormat = 7'h10,
                                      RegTransmit = 7'h12,
                         RegReceive = 7'h13, RegTransmitMark = 7'h14, RegReceiveMark = 7'h15,
                                      RegEnable = 7'h1c,
                         RegPending = 7'h1d;
  localparam logic [1:0] ModeAuto = 2'd0, ModeHold = 2'd2;

  logic [6:0] register;
  logic [7:0] data;
  logic [31:0] answer;
  logic read, write;
  assign register = access_i.addr[8:2];
  assign data     = access_i.word[7:0];
  assign read     = access_i.valid && access_i.write == '0;
  assign write    = access_i.valid && access_i.write != '0;

  logic [7:0] divider_q;
  logic idle_q, discard_q;   // CSDEF; FMT.DIR: received bytes are not kept
  logic [1:0] mode_q, enable_q, pending;
  logic [3:0] transmit_mark_q, receive_mark_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divider_q       <= 8'd3;
      idle_q          <= 1'b1;
      discard_q       <= 1'b0;
      mode_q          <= ModeAuto;
      enable_q        <= '0;
      transmit_mark_q <= '0;
      receive_mark_q  <= '0;
    end else if (write) begin
      unique case (register)
        RegDivider:      divider_q <= data;
        RegIdle:         idle_q <= data[0];
        RegMode:         mode_q <= data[1:0];
        RegFormat:       discard_q <= data[3];
        RegTransmitMark: transmit_mark_q <= data[3:0];
        RegReceiveMark:  receive_mark_q <= data[3:0];
        RegEnable:       enable_q <= data[1:0];
        default:         ;  // constant, or no register
      endcase
    end
  end

  // ---- FIFOs and line ----
  logic [7:0] byte_out, byte_in, received;
  logic waiting, room, start, ready, done, filled;
  logic [3:0] transmit_usage, receive_usage;
  fabric_word_fifo #(.Width(8), .Depth(8)) i_transmit (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .data_i(data),
    .valid_i(write && register == RegTransmit),
    .ready_o(room),
    .data_o(byte_out),
    .valid_o(waiting),
    .ready_i(start),
    .usage_o(transmit_usage)
  );
  assign start = waiting && ready;
  spi_port i_port (
    .clk_i,
    .rst_ni,
    .half_i(divider_q == '1 ? '1 : divider_q + 1'b1),
    .start_i(start),
    .byte_i(byte_out),
    .ready_o(ready),
    .done_o(done),
    .byte_o(byte_in),
    .sck_o,
    .mosi_o,
    .miso_i
  );
  fabric_word_fifo #(.Width(8), .Depth(8)) i_receive (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .data_i(byte_in),
    .valid_i(done && !discard_q),
    .ready_o(),
    .data_o(received),
    .valid_o(filled),
    .ready_i(read && register == RegReceive),
    .usage_o(receive_usage)
  );

  // In mode HOLD the chip stays selected from the first byte on; in AUTO during bytes only.
  logic held_q, busy;
  assign busy = waiting || !ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else if (mode_q != ModeHold) held_q <= 1'b0;
    else if (waiting) held_q <= 1'b1;
  end
  assign cs_no = idle_q ^ ((mode_q inside {ModeAuto, ModeHold} && busy) || held_q);

  // ---- Answers ----
  assign pending = {receive_usage > receive_mark_q, transmit_usage < transmit_mark_q};
  assign irq_o   = |(pending & enable_q);
  always_comb begin
    unique case (register)
      RegDivider:      answer = 32'(divider_q);
      RegIdle:         answer = 32'(idle_q);
      RegMode:         answer = 32'(mode_q);
      RegFormat:       answer = {12'h0, 4'd8, 12'h0, discard_q, 3'b0};
      RegTransmit:     answer = {!room, 31'h0};
      RegReceive:      answer = {!filled, 23'h0, filled ? received : 8'h0};
      RegTransmitMark: answer = 32'(transmit_mark_q);
      RegReceiveMark:  answer = 32'(receive_mark_q);
      RegEnable:       answer = 32'(enable_q);
      RegPending:      answer = 32'(pending);
      default:         answer = '0;
    endcase
  end
  always_ff @(posedge clk_i) data_o <= {2{answer}};

  logic unused;
  assign unused = &{1'b0, access_i};

endmodule
