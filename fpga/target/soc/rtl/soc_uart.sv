// SPDX-License-Identifier: Apache-2.0
// A 16550A with registers at stride 4 and FIFOs of 16 bytes: the console of firmware and
// hypervisor. A bit takes 16 cycles times the divisor. Characters have eight bits without parity;
// the modem's inputs are always active.
module soc_uart
  import soc_pkg::*;
  import io_uart_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; divisor 1, FIFOs disabled and empty, no interrupt enabled.
  input  logic        rst_ni,
  /// Pulse: one register in each 32 bits, in the lowest byte. A read of RBR removes a byte, one of
  /// LSR its errors, one of IIR the transmitter's interrupt.
  input  access_t     access_i,
  /// In the cycle after the access.
  output logic [63:0] data_o,
  /// Level: IIR shows an interrupt. rx_i is asynchronous, tx_o idle high.
  output logic        irq_o,
  input  logic        rx_i,
  output logic        tx_o
);

  typedef enum logic [3:0] {
    IdNone = 4'h1, IdTransmit = 4'h2, IdReceive = 4'h4, IdLine = 4'h6, IdLate = 4'hc
  } id_e;

  logic [2:0] register;
  logic [7:0] data, answer;
  logic read, write, divisor_access;
  assign register = access_i.addr[4:2];
  assign data     = access_i.word[7:0];
  assign read     = access_i.valid && access_i.write == '0;
  assign write    = access_i.valid && access_i.write != '0;

  // ---- Registers that keep what is written ----
  logic [15:0] divisor_q;
  logic [7:0] line_q, scratch_q;
  logic [4:0] modem_q;
  logic [3:0] enable_q;
  logic [1:0] trigger_q;
  logic fifo_q, loop, clear_receive, clear_transmit;
  assign divisor_access = line_q[7];
  assign loop           = modem_q[4];
  assign clear_receive  = write && register == RegFifo && (data[1] || data[0] != fifo_q);
  assign clear_transmit = write && register == RegFifo && (data[2] || data[0] != fifo_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divisor_q <= 16'd1;
      {line_q, scratch_q, modem_q, enable_q, trigger_q, fifo_q} <= '0;
    end else if (write) begin
      unique case (register)
        RegData:   if (divisor_access) divisor_q[7:0] <= data;
        RegEnable: if (divisor_access) divisor_q[15:8] <= data;
                   else enable_q <= data[3:0];
        RegFifo: begin
          fifo_q    <= data[0];
          trigger_q <= data[0] ? data[7:6] : '0;
        end
        RegLine:    line_q <= data;
        RegModem:   modem_q <= data[4:0];
        RegScratch: scratch_q <= data;
        default:    ;  // LSR and MSR are read-only
      endcase
    end
  end

  // ---- Line ----
  logic [15:0] bit_cycles, cycle_q;
  logic bit_now, line, transmit_ready, line_out;
  assign bit_cycles = divisor_q == '0 ? 16'd16 : {divisor_q[11:0], 4'b0};
  assign bit_now    = cycle_q == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycle_q <= '0;
    else if (bit_now || cycle_q > bit_cycles) cycle_q <= bit_cycles - 1'b1;
    else cycle_q <= cycle_q - 1'b1;
  end
  assign line = loop ? line_out : rx_i;
  assign tx_o = loop || line_out;

  // ---- Transmit ----
  logic [7:0] transmit_byte;
  logic transmit_push, transmit_valid, transmit_room;
  assign transmit_push = write && register == RegData && !divisor_access;
  fabric_word_fifo #(.Width(8), .Depth(16)) i_transmit_fifo (
    .clk_i,
    .rst_ni,
    .flush_i(clear_transmit),
    .data_i(data),
    .valid_i(transmit_push),
    .ready_o(transmit_room),
    .data_o(transmit_byte),
    .valid_o(transmit_valid),
    .ready_i(transmit_ready),
    .usage_o()
  );
  io_uart_transmit i_transmit (
    .clk_i,
    .rst_ni,
    .bit_i(bit_now),
    .send_i(transmit_valid && transmit_ready),
    .byte_i(transmit_byte),
    .ready_o(transmit_ready),
    .tx_o(line_out)
  );

  // ---- Receive ----
  uart_received_t arrived, head;
  logic arrives, receive_room, filled, pop, reached, late, error_seen_q, overrun_q;
  logic [4:0] usage;
  logic [5:0] idle_q;  // bit times without an access or a byte
  assign pop = read && register == RegData && !divisor_access;
  io_uart_receive i_receive (
    .clk_i,
    .rst_ni,
    .divider_i(bit_cycles),
    .rx_i(line),
    .valid_o(arrives),
    .received_o(arrived),
    .take_i(arrives)
  );
  fabric_word_fifo #(.Width($bits(uart_received_t)), .Depth(16)) i_receive_fifo (
    .clk_i,
    .rst_ni,
    .flush_i(clear_receive),
    .data_i(arrived),
    .valid_i(arrives),
    .ready_o(receive_room),
    .data_o(head),
    .valid_o(filled),
    .ready_i(pop),
    .usage_o(usage)
  );
  always_comb begin
    unique case (trigger_q)
      2'd0:    reached = usage >= 5'd1;
      2'd1:    reached = usage >= 5'd4;
      2'd2:    reached = usage >= 5'd8;
      default: reached = usage >= 5'd14;
    endcase
  end
  assign late = filled && idle_q >= 6'd40;

  logic read_status, head_error;
  assign read_status = read && register == RegStatus;
  assign head_error  = filled && (head.frame || head.pause) && !error_seen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {error_seen_q, overrun_q} <= '0;
      idle_q <= '0;
    end else begin
      if (pop || clear_receive) error_seen_q <= 1'b0;
      else if (read_status && filled) error_seen_q <= 1'b1;
      if (arrives && !receive_room) overrun_q <= 1'b1;
      else if (read_status || clear_receive) overrun_q <= 1'b0;
      if (pop || arrives || !filled) idle_q <= '0;
      else if (bit_now && !late) idle_q <= idle_q + 1'b1;
    end
  end

  // ---- Interrupt ----
  id_e id;
  logic empty_q;  // the transmit FIFO has become empty, which nobody has read yet
  logic was_empty_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      empty_q     <= 1'b0;
      was_empty_q <= 1'b1;
    end else begin
      was_empty_q <= !transmit_valid;
      if (transmit_push) empty_q <= 1'b0;
      else if (!transmit_valid && (!was_empty_q
                                   || (write && register == RegEnable && !divisor_access
                                       && data[1])))
        empty_q <= 1'b1;
      else if (read && register == RegFifo && id == IdTransmit) empty_q <= 1'b0;
    end
  end
  always_comb begin
    if (enable_q[2] && (overrun_q || head_error)) id = IdLine;
    else if (enable_q[0] && reached) id = IdReceive;
    else if (enable_q[0] && late) id = IdLate;
    else if (enable_q[1] && empty_q) id = IdTransmit;
    else id = IdNone;
  end
  assign irq_o = id != IdNone;

  // ---- Answers ----
  logic [7:0] status, modem_status;
  assign status       = {1'b0, !transmit_valid && transmit_ready, !transmit_valid, head_error
                         && head.pause, head_error && head.frame, 1'b0, overrun_q, filled};
  assign modem_status = loop ? {modem_q[3], modem_q[2], modem_q[0], modem_q[1], 4'h0} : 8'hb0;
  always_comb begin
    unique case (register)
      RegData:        answer = divisor_access ? divisor_q[7:0] : filled ? head.data : '0;
      RegEnable:      answer = divisor_access ? divisor_q[15:8] : {4'h0, enable_q};
      RegFifo:        answer = {{2{fifo_q}}, 2'b0, id};
      RegLine:        answer = line_q;
      RegModem:       answer = {3'b0, modem_q};
      RegStatus:      answer = status;
      RegModemStatus: answer = modem_status;
      default:        answer = scratch_q;
    endcase
  end
  always_ff @(posedge clk_i) data_o <= {2{24'h0, answer}};

  logic unused;
  assign unused = &{1'b0, transmit_room, access_i};

endmodule
