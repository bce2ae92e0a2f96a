// SPDX-License-Identifier: Apache-2.0
// gpio_processor with a time base and pads: a pad has the level that is driven, or else the one
// from outside.
module gpio_harness
  import fabric_pkg::*;
  import io_gpio_pkg::*;
#(
  parameter int unsigned NumVms = 16,
  parameter int unsigned NumPins = 32,
  parameter int unsigned CommandDepth = 32,
  parameter int unsigned ResultDepth = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// The time in reset.
  input  logic [63:0] time_start_i,
  input  logic [NumVms-1:0][NumPins-1:0] owner_i,
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  input  logic        command_valid_i,
  input  vm_t         command_vm_i,
  input  logic [63:0] command_i,
  output logic [NumVms-1:0] command_ready_o,
  output logic        refused_o,
  input  logic [NumVms-1:0] start_i,
  input  logic [NumVms-1:0] stop_i,
  input  vm_t         result_vm_i,
  output gpio_result_t result_o,
  output logic        result_valid_o,
  input  logic        result_pop_i,
  output gpio_status_t [NumVms-1:0] status_o,
  input  logic [NumPins-1:0] outside_i,
  output logic [63:0] time_o,
  /// Output enables and levels of the pins' registers.
  output logic [2*NumPins-1:0] pins_o
);

  logic [NumPins-1:0] pin, level, drive;
  assign pin    = (level & drive) | (outside_i & ~drive);
  assign pins_o = {drive, level};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) time_o <= time_start_i;
    else time_o <= time_o + 1'b1;
  end

  gpio_processor #(
    .NumVms(NumVms), .NumPins(NumPins), .CommandDepth(CommandDepth), .ResultDepth(ResultDepth)
  ) i_gpio (
    .clk_i, .rst_ni, .time_i(time_o), .owner_i, .flush_i, .flush_vm_i, .command_valid_i,
    .command_vm_i, .command_i, .command_ready_o, .refused_o, .start_i, .stop_i, .result_vm_i,
    .result_o, .result_valid_o, .results_o(), .result_pop_i, .status_o,
    .pin_i(pin), .pin_o(level), .pin_oe_o(drive)
  );

endmodule
