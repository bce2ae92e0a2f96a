// SPDX-License-Identifier: Apache-2.0
// Connects a sorter to sort_array: a command is a pulse, its outcome is registered. The
// co-simulation replaces this module (fpga/target/cosim/replace), so it has a number.
module sort_port
  import fabric_pkg::*;
#(
  /// Entries, 2..256.
  parameter int unsigned Depth = 64,
  /// Number of this sorter; for the co-simulation.
  parameter int unsigned Index = 0
) (
  input  logic        clk_i,
  /// Asynchronous, active low; the queue is empty and no command waits after it.
  input  logic        rst_ni,
  /// Pulse, not while waiting_o: execute op_i. The operands stay until waiting_o is 0.
  input  logic        command_i,
  /// sorter_op_e, with the operands that it needs.
  input  logic [2:0]  op_i,
  input  sort_key_t   key_i,
  input  sort_order_t order_i,
  input  sort_value_t value_i,
  /// Outcome of the last command (sorter_status_e), from the cycle after its last one.
  output logic [1:0]  status_o,
  /// The command needs another cycle.
  output logic        waiting_o,
  /// State of the queue, in every cycle, as at fabric_sorter.
  output logic [8:0]  count_o,
  output logic        head_valid_o,
  output sort_key_t   head_key_o,
  output sort_value_t head_value_o
);

  fabric_sorter_pkg::sorter_status_e status;
  logic valid, ready;
  logic [$clog2(Depth+1)-1:0] count;

  logic unused_index;
  assign unused_index = ^Index;

  assign valid   = command_i || waiting_o;
  assign count_o = 9'(count);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_o <= 1'b0;
      status_o  <= '0;
    end else begin
      waiting_o <= valid && !ready;
      if (valid && ready) status_o <= status;
    end
  end

  fabric_sorter #(
    .Depth(Depth), .KeyWidth($bits(sort_key_t)), .ValueWidth($bits(sort_value_t)),
    .OrderWidth($bits(sort_order_t))
  ) i_sorter (
    .clk_i, .rst_ni, .op_valid_i(valid), .op_ready_o(ready),
    .op_i(fabric_sorter_pkg::sorter_op_e'(op_i)), .key_i, .order_i, .value_i, .status_o(status),
    .head_valid_o, .head_key_o, .head_value_o, .count_o(count)
  );

endmodule
