// SPDX-License-Identifier: Apache-2.0
// a_i == b_i on a carry chain, three bits a stage: the carry of all-ones + 1 reaches the end.
// Combinational, for fabric_sorter's search of a value.
module sorter_eq #(
  /// Bits of the operands; the last stage is padded with zeros on both sides.
  parameter int unsigned Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic             eq_o
);

  localparam int unsigned Stages = (Width + 2) / 3;

  logic [3*Stages-1:0] a, b;
  logic [Stages-1:0]   equal;
  logic [Stages:0]     sum;

  assign a = (3 * Stages)'(a_i);
  assign b = (3 * Stages)'(b_i);

  for (genvar i = 0; i < Stages; i++) begin : gen_stage
    assign equal[i] = a[3*i+:3] == b[3*i+:3];
  end

  assign sum  = {1'b0, equal} + (Stages + 1)'(1);
  assign eq_o = sum[Stages];

  // Only the carry out of the sum is used.
  logic unused_sum;
  assign unused_sum = ^sum[Stages-1:0];

endmodule
