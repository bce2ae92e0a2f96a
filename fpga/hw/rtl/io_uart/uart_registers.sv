// SPDX-License-Identifier: Apache-2.0
// The registers of each VM that keep what is written, for io_uart_core. A register that was not
// written since the last clear reads as 0. All ports concern vm_i in this cycle. No reset:
// uart_slots clears each row.
module uart_registers
  import fabric_pkg::*;
  import io_uart_pkg::*;
(
  input  logic       clk_i,
  input  vm_t        vm_i,
  input  logic       clear_i,
  /// A write of register reg_i; what is not kept is ignored. The outputs are those before the
  /// write.
  input  logic       write_i,
  input  logic [2:0] reg_i,
  input  logic [7:0] data_i,
  output uart_control_t control_o,
  /// The divisor, IER, LCR, MCR, SCR; for MSR, the MCR.
  output logic [7:0] stored_o
);

  typedef struct packed {
    // By place in the memory: written since the last clear.
    logic [7:0]    written;
    uart_control_t control;
  } row_t;

  row_t rows [16];
  logic [7:0] bytes [128];
  row_t row, next;
  logic enables, store;
  // 0 and 1 have the divisor, 2 IER, 3 LCR, 4 MCR, 7 SCR; 5 and 6 are never written.
  logic [2:0] place;  // IER has the place of FCR, which cannot be read
  logic [7:0] data;

  assign row       = rows[vm_i];
  assign control_o = row.control;
  assign enables   = reg_i == RegEnable && !row.control.divisor;
  assign stored_o  = row.written[place] ? bytes[{vm_i, place}] : '0;
  assign store     = write_i && (reg_i inside {RegEnable, RegLine, RegModem, RegScratch}
                                 || (reg_i == RegData && row.control.divisor));

  always_comb begin
    place = reg_i;
    if (reg_i == RegModemStatus) place = RegModem;
    if (enables) place = RegFifo;
    data = data_i;
    if (enables || reg_i == RegModem) data[7:5] = '0;
    if (enables) data[4] = 1'b0;
  end

  always_comb begin
    next = row;
    if (store) next.written[place] = 1'b1;
    if (write_i && enables) next.control.enable = data_i[3:0];
    if (write_i && reg_i == RegLine) next.control.divisor = data_i[7];
    if (write_i && reg_i == RegModem) next.control.loop = data_i[4];
    if (write_i && reg_i == RegFifo) begin
      next.control.fifo = data_i[0];
      if (data_i[0]) next.control.trigger = data_i[7:6];
    end
    if (clear_i) next = '0;
  end

  always_ff @(posedge clk_i) begin
    rows[vm_i] <= next;
    if (store) bytes[{vm_i, place}] <= data;
  end

endmodule
