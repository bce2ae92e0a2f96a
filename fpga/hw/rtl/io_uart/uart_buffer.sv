// SPDX-License-Identifier: Apache-2.0
// The bytes that each VM sends: a FIFO in which the bytes before a mark may be sent; the others
// belong to a line that is not complete. And the interrupt of an empty transmitter. All ports
// concern vm_i in this cycle; outputs are those of its row before the changes of the cycle. No
// reset: uart_slots clears each row.
module uart_buffer
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// Bytes of a VM, a power of two, at least 32.
  parameter int unsigned LineBytes = 64,
  localparam int unsigned PointerBits = $clog2(LineBytes)
) (
  input  logic       clk_i,
  input  vm_t        vm_i,
  /// The row returns to its reset value, whatever else the cycle does.
  input  logic       clear_i,
  /// The VM writes a byte, which is lost if there is no space; with replace_i, the oldest byte is.
  input  logic       put_i,
  input  logic [7:0] byte_i,
  input  logic       replace_i,
  /// The first byte leaves the FIFO.
  input  logic       take_i,
  output logic [7:0] byte_o,
  /// No byte may be sent; all of them may be sent.
  output logic       empty_o,
  input  logic       all_i,
  /// Where the bytes that may be sent end, and the place after the first byte.
  output logic [PointerBits:0] limit_o,
  output logic [PointerBits:0] after_o,
  /// Pulse: the time for an incomplete line is over; a line is sent when it has seen two.
  input  logic       age_i,
  /// Space for 16 bytes at least, whatever the FIFO has.
  input  logic       open_i,
  output logic       space_o,
  // The interrupt: raised once after each rise_i when there is space, lowered by the next rise_i or
  // by lower_i.
  /// A cycle that only examines the VM; the interrupt rises in these only.
  input  logic       look_i,
  input  logic       rise_i,
  input  logic       lower_i,
  output logic       pending_o
);

  typedef logic [PointerBits:0] pointer_t;
  typedef struct packed {
    pointer_t write;
    pointer_t read;
    pointer_t mark;
    logic     aged;     // the incomplete line has seen a pulse
    logic     waits;    // for space
    logic     pending;
  } row_t;

  row_t rows [16];
  logic [7:0] bytes [16 * LineBytes];
  row_t row, next;
  pointer_t count;
  logic full, room, put, advance, ends, fills;
  logic [PointerBits-1:0] place;

  assign row       = rows[vm_i];
  assign count     = row.write - row.read;
  assign full      = count[PointerBits];
  assign room      = count <= pointer_t'(LineBytes - 16);
  assign space_o   = room || open_i;
  assign limit_o   = all_i ? row.write : row.mark;
  assign empty_o   = limit_o == row.read;
  assign after_o   = row.read + 1'b1;
  assign pending_o = row.pending;

  assign put     = put_i && (!full || replace_i);
  assign advance = take_i || (put_i && full && replace_i);
  assign ends    = put && byte_i == Newline;
  // A line that leaves no space is sent, because its VM waits for space. After a line that is sent
  // it has to wait.
  assign fills   = look_i && !room && row.mark == row.read;

  assign place  = put_i ? row.write[PointerBits-1:0] : row.read[PointerBits-1:0];
  assign byte_o = bytes[{vm_i, place}];

  always_comb begin
    next = row;
    if (put) next.write = row.write + 1'b1;
    if (advance) next.read = after_o;
    if (age_i) next.aged = row.write != row.mark && !row.aged;
    if (ends || fills) next.aged = 1'b0;
    // The mark moves to the end of what may be sent.
    if (ends || fills || (age_i && row.aged)) next.mark = next.write;
    else if (advance && row.mark == row.read) next.mark = after_o;
    if (look_i && row.waits && space_o) {next.waits, next.pending} = 2'b01;
    if (rise_i) {next.waits, next.pending} = 2'b10;
    if (lower_i) next.pending = 1'b0;
    if (clear_i) next = '0;
  end

  always_ff @(posedge clk_i) begin
    rows[vm_i] <= next;
    if (put) bytes[{vm_i, place}] <= byte_i;
  end

endmodule
