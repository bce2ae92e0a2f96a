// SPDX-License-Identifier: Apache-2.0
// The bytes that each VM has received: a FIFO of 16, with the errors of each byte, for
// io_uart_core. All ports concern vm_i in this cycle. No reset: uart_slots clears each row.
module uart_queue
  import fabric_pkg::*;
  import io_uart_pkg::*;
(
  input  logic       clk_i,
  input  vm_t        vm_i,
  input  logic       clear_i,
  /// Removes all bytes.
  input  logic       empty_i,
  /// A received byte; lost, as an overrun, if the FIFO is full. pop_i: the VM reads the first byte.
  input  logic       push_i,
  input  uart_received_t received_i,
  input  logic       pop_i,
  /// LSR is read: the errors have been shown.
  input  logic       shown_i,
  /// Pulse: the time of eight bits is over.
  input  logic       eight_i,
  /// FCR of the VM: FIFOs enabled, and the trigger level.
  input  logic       fifo_i,
  input  logic [1:0] trigger_i,
  /// Of the row before the changes of this cycle.
  output uart_waiting_t waiting_o
);

  localparam logic [2:0] Late = 3'd6;  // 40 to 48 bits

  typedef struct packed {
    // Where the next byte goes; bytes in the FIFO, 0 .. 16; times of eight bits since the last byte
    // came or was read, up to Late; a byte was lost since LSR was read.
    logic [3:0] write;
    logic [4:0] count;
    logic [2:0] age;
    logic       overrun;
    logic       shown;    // the errors of the first byte
  } row_t;

  row_t rows [16];
  uart_received_t bytes [256];
  uart_received_t first;
  row_t row, next;
  logic push, pop;
  logic [3:0] place;

  assign row   = rows[vm_i];
  assign push  = push_i && !row.count[4];
  assign pop   = pop_i && waiting_o.filled;
  // One port: a cycle that pushes a byte reads none.
  assign place = push_i ? row.write : row.write - row.count[3:0];
  assign first = bytes[{vm_i, place}];

  always_comb begin
    waiting_o.filled = row.count != '0;
    unique case (fifo_i ? trigger_i : 2'd0)
      2'd0: waiting_o.reached = waiting_o.filled;
      2'd1: waiting_o.reached = row.count >= 5'd4;
      2'd2: waiting_o.reached = row.count >= 5'd8;
      default: waiting_o.reached = row.count >= 5'd14;
    endcase
    waiting_o.late    = fifo_i && row.age == Late;
    waiting_o.overrun = row.overrun;
    // a break is a framing error, too
    waiting_o.error   = first.frame && waiting_o.filled && !row.shown;
    waiting_o.head    = waiting_o.filled ? first : '0;
  end

  always_comb begin
    next = row;
    if (push) {next.write, next.count} = {row.write + 1'b1, row.count + 1'b1};
    if (pop) next.count = row.count - 1'b1;
    if (push_i && !push) next.overrun = 1'b1;
    if (shown_i) {next.overrun, next.shown} = {1'b0, waiting_o.filled};
    if (pop) next.shown = 1'b0;
    if (eight_i && waiting_o.filled && row.age != Late) next.age = row.age + 1'b1;
    if (push || pop) next.age = '0;
    if (empty_i) {next.count, next.age, next.shown} = '0;
    if (clear_i) next = '0;
  end

  always_ff @(posedge clk_i) begin
    rows[vm_i] <= next;
    if (push) bytes[{vm_i, place}] <= received_i;
  end

endmodule
