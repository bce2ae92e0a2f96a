// SPDX-License-Identifier: Apache-2.0
// Proves the memories of the shared UART with two VMs in mode 0, for all accesses, bytes from the
// line, flushes: the bytes of a VM are sent in order, each one once, unless the VM is flushed; and
// what is done for a VM changes nothing of another one. That they are sent in the VM's own lines,
// and when, is proven by uart_lines_props.
module io_uart_core_props
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  localparam int unsigned NumVms = 2,
  localparam int unsigned LineBytes = 32,
  localparam int unsigned PointerBits = 5
) (
  input logic clk_i,
  input vm_t focus_i,
  input logic [NumVms-1:0] allowed_i,
  input logic flush_i, access_i, write_i, eight_i, age_i, received_valid_i, ready_i, watch_i,
  input vm_t flush_vm_i, vm_i,
  input logic [2:0] reg_i,
  input logic [7:0] data_i,
  input uart_received_t received_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic send;
  logic [7:0] sent;
  io_uart_core #(.NumVms(NumVms), .LineBytes(LineBytes)) dut (
    .clk_i, .rst_ni(rst_n), .mode_i(1'b0), .focus_i, .allowed_i, .flush_i, .flush_vm_i, .access_i,
    .vm_i, .reg_i, .write_i, .data_i, .data_o(), .irq_o(), .eight_i, .age_i, .received_valid_i,
    .received_i, .received_take_o(), .ready_i, .send_o(send), .byte_o(sent)
  );

  // An arbitrary VM, and a place in each of its memories.
  (* keep *) logic any;
  (* keep *) logic [PointerBits-1:0] line_place;
  (* keep *) logic [3:0] queue_place;
  (* keep *) logic [2:0] register_place;
  always_ff @(posedge clk_i) begin
    any            <= any;
    line_place     <= line_place;
    queue_place    <= queue_place;
    register_place <= register_place;
  end

  vm_t of_any, scan;
  logic begins;
  assign of_any = vm_t'(any);
  assign begins = dut.begins;
  assign scan   = dut.i_slots.scan_q;

  // ---- The bytes of a VM ----
  typedef struct packed {
    logic [PointerBits:0] write, read, mark;
    logic aged, waits, pending;
  } buffer_t;
  buffer_t row;
  logic [PointerBits:0] count, marked, limit;
  logic known, puts, takes, watching_q;
  assign row    = dut.i_buffer.rows[of_any];
  assign count  = row.write - row.read;
  assign marked = row.mark - row.read;
  assign limit  = dut.i_lines.limit_q - row.read;
  assign known  = !begins || scan > of_any;
  assign puts   = dut.i_buffer.put && dut.vm == of_any;
  assign takes  = dut.take && dut.vm == of_any;

  // One of its bytes, chosen by the solver, and the number of bytes before it.
  logic [7:0] watched_q;
  logic [PointerBits:0] before_q;
  logic [PointerBits-1:0] watched_place;
  assign watched_place = row.read[PointerBits-1:0] + before_q[PointerBits-1:0];
  always_ff @(posedge clk_i) begin
    if (!rst_n || (dut.clear && dut.vm == of_any)) watching_q <= 1'b0;
    else if (puts && watch_i && !watching_q) begin
      watching_q <= 1'b1;
      watched_q  <= data_i;
      before_q   <= count;
    end else if (takes && watching_q) begin
      watching_q <= before_q != '0;
      before_q   <= before_q - 1'b1;
    end
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    if (takes && watching_q && before_q == '0) assert (sent == watched_q);
    if (takes) assert (count != '0);
    if (access_i && dut.put && vm_i == of_any && !dut.control.loop && count < 6'(LineBytes))
      assert (puts);
    // invariants
    if (known) assert (count <= 6'(LineBytes) && marked <= count);
    if (begins) assert (!dut.sending && scan < vm_t'(NumVms));
    if (watching_q) begin
      assert (known && before_q < count);
      assert (dut.i_buffer.bytes[{of_any, watched_place}] == watched_q);
    end
    if (dut.sending && dut.owner == of_any) assert (limit != '0 && limit <= count);
    cover (takes && watching_q && before_q == '0 && watched_q == "x");
  end

  // ---- Isolation ----
  logic other_q = 1'b0;
  logic [$bits(buffer_t)-1:0] buffer_q;
  logic [13:0] queue_q;
  logic [16:0] registers_q;
  logic [7:0] line_byte_q, register_q;
  uart_received_t queue_byte_q;
  always_ff @(posedge clk_i) begin
    other_q      <= rst_n && dut.vm != of_any;
    buffer_q     <= dut.i_buffer.rows[of_any];
    queue_q      <= dut.i_queue.rows[of_any];
    registers_q  <= dut.i_registers.rows[of_any];
    line_byte_q  <= dut.i_buffer.bytes[{of_any, line_place}];
    queue_byte_q <= dut.i_queue.bytes[{of_any, queue_place}];
    register_q   <= dut.i_registers.bytes[{of_any, register_place}];
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    if (access_i) assert (dut.vm == vm_i);
    if (dut.take) assert (dut.vm == dut.owner);
    if (!begins && !access_i && dut.clear) assert (dut.vm == dut.i_slots.flush_vm_q);
    if (other_q) begin
      assert (dut.i_buffer.rows[of_any] == buffer_q && dut.i_queue.rows[of_any] == queue_q);
      assert (dut.i_registers.rows[of_any] == registers_q);
      assert (dut.i_buffer.bytes[{of_any, line_place}] == line_byte_q);
      assert (dut.i_queue.bytes[{of_any, queue_place}] == queue_byte_q);
      assert (dut.i_registers.bytes[{of_any, register_place}] == register_q);
    end
    // Without the UART a VM's access changes nothing of it, either.
    if (access_i && vm_i == of_any && !allowed_i[any]) begin
      assert (!dut.write && !dut.read && !dut.i_buffer.put && !dut.i_queue.push);
    end
  end
endmodule
