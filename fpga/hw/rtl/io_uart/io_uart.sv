// SPDX-License-Identifier: Apache-2.0
// One UART for several VMs, each of which sees a 16550A of its own. The lines of each VM are sent
// as a whole, with their owner; the VM that has the focus receives the input. Each cycle is about
// one VM (uart_slots); what a VM writes or does not read delays and changes no other VM's UART but
// by the time that its lines take on the wire.
module io_uart
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// 1..16.
  parameter int unsigned NumVms = 4,
  /// Bytes of a VM that wait to be sent, a power of two, at least 32.
  parameter int unsigned LineBytes = 64
) (
  input  logic        clk_i,
  /// Asynchronous, active low; the line is idle, and the VMs' registers are cleared in the next
  /// NumVms cycles without an access.
  input  logic        rst_ni,
  // configuration
  /// Cycles of a bit of the line, at least 16. What VMs write into their divisors is only stored.
  input  logic [15:0] divider_i,
  /// 0: lines of all VMs with their owners. 1: the bytes of the focus VM as they are, without
  /// owners; each other VM's FIFO keeps its last bytes, and the VM never waits.
  input  logic        mode_i,
  /// The VM that receives the input.
  input  vm_t         focus_i,
  /// An incomplete line is sent after once to twice 8 * (flush_time_i + 1) bits' times.
  input  logic [11:0] flush_time_i,
  /// VMs that have the UART. Another VM's writes are ignored; it reads an LSR without data and with
  /// space, and 0.
  input  logic [NumVms-1:0] allowed_i,
  /// Pulse, the next one at least eight cycles later: the VM's buffers and registers return to
  /// their reset values.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  // the bus
  /// Pulse. An access sees all effects of one at least three cycles before it. Nothing else happens
  /// in its cycle: accesses in every cycle stop the line. Those in the NumVms cycles after a reset
  /// are ignored.
  input  logic        access_i,
  input  vm_t         vm_i,
  input  logic [2:0]  reg_i,
  input  logic        write_i,
  input  logic [7:0]  data_i,
  /// From the cycle after access_i to the next access.
  output logic [7:0]  data_o,
  /// Level of each VM's 16550A, registered; it follows the VM's state when a slot concerns the VM.
  output logic [NumVms-1:0] irq_o,
  // pins
  /// Idle high; rx_i passes two flip-flops.
  output logic        tx_o,
  input  logic        rx_i
);

  logic bit_begins, eight, age, valid, taken, ready, send;
  uart_received_t received;
  logic [7:0] byte_tx;

  uart_clock i_clock (
    .clk_i, .rst_ni, .divider_i, .flush_time_i, .bit_o(bit_begins), .eight_o(eight), .age_o(age)
  );
  io_uart_core #(.NumVms(NumVms), .LineBytes(LineBytes)) i_core (
    .clk_i, .rst_ni, .mode_i, .focus_i, .allowed_i, .flush_i, .flush_vm_i, .access_i, .vm_i, .reg_i,
    .write_i, .data_i, .data_o, .irq_o, .eight_i(eight), .age_i(age), .received_valid_i(valid),
    .received_i(received), .received_take_o(taken), .ready_i(ready), .send_o(send), .byte_o(byte_tx)
  );
  io_uart_transmit i_transmit (
    .clk_i, .rst_ni, .bit_i(bit_begins), .send_i(send), .byte_i(byte_tx), .ready_o(ready), .tx_o
  );
  io_uart_receive i_receive (
    .clk_i, .rst_ni, .divider_i, .rx_i, .valid_o(valid), .received_o(received), .take_i(taken)
  );

endmodule
