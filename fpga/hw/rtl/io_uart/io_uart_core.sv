// SPDX-License-Identifier: Apache-2.0
// The shared UART without the line's bits, for io_uart. Each cycle is about one VM (uart_slots):
// its row of each memory is read, and written. It connects the blocks that hold the rows and
// decides what a slot does to them.
module io_uart_core
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// As of io_uart.
  parameter int unsigned NumVms = 4,
  parameter int unsigned LineBytes = 64,
  localparam int unsigned PointerBits = $clog2(LineBytes)
) (
  input  logic        clk_i,
  /// Asynchronous, active low; each row is cleared before anything else happens to its VM.
  input  logic        rst_ni,
  /// Configuration and access, as in io_uart.
  input  logic        mode_i,
  input  vm_t         focus_i,
  input  logic [NumVms-1:0] allowed_i,
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  input  logic        access_i,
  input  vm_t         vm_i,
  input  logic [2:0]  reg_i,
  input  logic        write_i,
  input  logic [7:0]  data_i,
  output logic [7:0]  data_o,
  output logic [NumVms-1:0] irq_o,
  /// Pulses of uart_clock.
  input  logic        eight_i,
  input  logic        age_i,
  /// A byte from the line, until it is taken, with received_take_o. A VM without the UART, or in
  /// loop mode, loses it.
  input  logic        received_valid_i,
  input  uart_received_t received_i,
  output logic        received_take_o,
  /// Bytes for the line; send_o, a pulse, only if ready_i.
  input  logic        ready_i,
  output logic        send_o,
  output logic [7:0]  byte_o
);

  // ---- What this cycle does ----
  uart_slot_e slot;
  vm_t vm, owner;
  uart_control_t control;
  logic begins, eight_vm, age_vm, wanted;
  logic allowed, clear, look, receive, take, write, read, data_access;

  uart_slots #(.NumVms(NumVms)) i_slots (
    .clk_i, .rst_ni, .access_i, .access_vm_i(vm_i), .flush_i, .flush_vm_i,
    .receive_i(received_valid_i), .receive_vm_i(focus_i), .take_i(wanted), .take_vm_i(owner),
    .slot_o(slot), .vm_o(vm), .begin_o(begins), .eight_i, .age_i, .eight_o(eight_vm), .age_o(age_vm)
  );
  always_comb begin
    allowed = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) if (vm == vm_t'(v)) allowed = allowed_i[v] && !begins;
  end
  assign clear       = slot == SlClear;
  assign look        = slot inside {SlScan, SlLook};
  assign receive     = slot == SlReceive && allowed && !control.loop;
  assign take        = slot == SlTake;
  assign received_take_o = slot == SlReceive;
  assign write       = slot == SlAccess && allowed && write_i;
  assign read        = slot == SlAccess && allowed && !write_i;
  assign data_access = reg_i == RegData && !control.divisor;

  // ---- The state of the VMs ----
  logic [7:0] stored, byte_out;
  uart_waiting_t waiting;
  logic put, away, sending, nothing, space, pending, rise, lower, shows_empty;
  logic [PointerBits:0] limit, after;

  uart_registers i_registers (
    .clk_i, .vm_i(vm), .clear_i(clear), .write_i(write), .reg_i, .data_i, .control_o(control),
    .stored_o(stored)
  );

  assign put   = write && data_access;
  // Nothing of this VM is sent in this mode: its FIFO keeps the last bytes, and never fills.
  assign away  = mode_i && vm != focus_i;
  assign rise  = put || (write && reg_i == RegEnable && !control.divisor && data_i[1]
                         && !control.enable[1]);
  assign lower = read && reg_i == RegFifo && shows_empty;
  uart_buffer #(.LineBytes(LineBytes)) i_buffer (
    .clk_i, .vm_i(vm), .clear_i(clear), .put_i(put && !control.loop), .byte_i(data_i),
    .replace_i(away && !(sending && owner == vm)), .take_i(take), .byte_o(byte_out),
    .empty_o(nothing), .all_i(mode_i), .limit_o(limit), .after_o(after), .age_i(age_vm),
    .open_i(away), .space_o(space), .look_i(look), .rise_i(rise), .lower_i(lower),
    .pending_o(pending)
  );
  uart_queue i_queue (
    .clk_i, .vm_i(vm), .clear_i(clear),
    .empty_i(write && reg_i == RegFifo && (data_i[1] || data_i[0] != control.fifo)),
    .push_i(receive || (put && control.loop)),
    .received_i(receive ? received_i : '{data: data_i, default: '0}), .pop_i(read && data_access),
    .shown_i(read && reg_i == RegStatus), .eight_i(eight_vm), .fifo_i(control.fifo),
    .trigger_i(control.trigger), .waiting_o(waiting)
  );
  uart_face #(.NumVms(NumVms)) i_face (
    .clk_i, .rst_ni, .vm_i(vm), .allowed_i(allowed), .control_i(control), .stored_i(stored),
    .waiting_i(waiting), .space_i(space), .empty_pending_i(pending), .shows_empty_o(shows_empty),
    .access_i, .reg_i, .data_o, .irq_o
  );

  // ---- The line ----
  uart_lines #(.NumVms(NumVms), .PointerBits(PointerBits)) i_lines (
    .clk_i, .rst_ni, .raw_i(mode_i), .scan_i(slot == SlScan), .vm_i(vm),
    .ready_i(allowed && !nothing && !away), .limit_i(limit), .clear_i(clear), .busy_o(sending),
    .owner_o(owner), .take_o(wanted), .taken_i(take), .byte_i(byte_out), .after_i(after),
    .ready_tx_i(ready_i), .send_o, .byte_o
  );

endmodule
