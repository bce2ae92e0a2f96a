// SPDX-License-Identifier: Apache-2.0
// The commands of one VM: a FIFO that keeps the body of an open loop until the loop ends. The
// commands are in distributed RAM, whose words have no reset. It serves gpio_processor, and owns
// the loop's state.
module gpio_commands
  import io_gpio_pkg::*;
#(
  /// Number of commands, a power of two, 2..128.
  parameter int unsigned Depth = 32,
  localparam int unsigned PointerBits = $clog2(Depth)
) (
  input  logic          clk_i,
  /// Asynchronous, active low; empty, without an open loop after it.
  input  logic          rst_ni,
  /// Removes all commands, also one that arrives in this cycle.
  input  logic          flush_i,
  /// Pulse: a command; lost if space_o is 0. It can be taken from the next cycle on.
  input  logic          push_i,
  input  gpio_command_t command_i,
  output logic [PointerBits:0] space_o,
  /// The next command, valid with head_valid_o; take_i, a pulse, moves on to the one after it,
  /// which is the first of the body again at the end of a pass.
  output gpio_command_t head_o,
  output logic          head_valid_o,
  /// The next command is a loop inside a loop, or a repeat outside.
  output logic          misplaced_o,
  input  logic          take_i
);

  typedef logic [PointerBits:0] pointer_t;

  gpio_command_t mem [Depth];
  // body_q: the first command of the open loop's body, which must be kept.
  pointer_t write_q, read_q, body_q, oldest;
  logic loop_q, push, opens, closes, again, too_long;
  logic [15:0] count_q;  // passes left; 0: for ever

  assign oldest       = loop_q ? body_q : read_q;
  assign space_o      = pointer_t'(Depth) - (write_q - oldest);
  assign push         = push_i && space_o != '0;
  assign head_o       = mem[read_q[PointerBits-1:0]];
  assign head_valid_o = write_q != read_q;

  assign opens       = head_o.action.op == GpLoop && !loop_q;
  assign closes      = head_o.action.op == GpRepeat && loop_q;
  assign misplaced_o = (head_o.action.op == GpLoop && loop_q)
                       || (head_o.action.op == GpRepeat && !loop_q);
  // Another pass follows.
  assign again       = closes && count_q != 16'd1;
  // The memory is full of a body whose end cannot be written. The loop is abandoned, and its repeat
  // will be reported as misplaced: otherwise the VM would wait for ever.
  assign too_long = loop_q && !head_valid_o && space_o == '0;

  always_ff @(posedge clk_i) begin
    if (push) mem[write_q[PointerBits-1:0]] <= command_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else if (flush_i) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push) write_q <= write_q + 1'b1;
      if (take_i) read_q <= again ? body_q : read_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loop_q  <= 1'b0;
      body_q  <= '0;
      count_q <= '0;
    end else if (flush_i || too_long) loop_q <= 1'b0;
    else if (take_i && opens) begin
      loop_q  <= 1'b1;
      body_q  <= read_q + 1'b1;
      count_q <= head_o.delay[15:0];
    end else if (take_i && closes) begin
      loop_q <= again;
      if (count_q != '0) count_q <= count_q - 1'b1;
    end
  end

endmodule
