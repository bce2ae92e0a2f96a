// SPDX-License-Identifier: Apache-2.0
// a_i > b_i, or a_i == b_i and tie_i; unsigned, on a carry chain, three bits a stage.
//
// A stage compares three bits: equal propagates the carry, greater generates one. Written as a sum:
// with {A, B} = {g, g | e} a bit position propagates when e and generates when g; a carry into bit
// 0 makes the result "greater or equal", so that tie_i costs nothing. This takes two LUT6 for three
// bits, where a plain comparison takes three, and one carry stage instead of three.
module sorter_ge #(
  /// Bits of the operands, unsigned; the last stage is padded with zeros on both sides.
  parameter int unsigned Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  /// The result for equal operands.
  input  logic             tie_i,
  /// In the same cycle.
  output logic             ge_o
);

  localparam int unsigned Stages = (Width + 2) / 3;

  logic [3*Stages-1:0] a, b;
  logic [Stages-1:0]   equal, greater;
  logic [Stages:0]     sum;

  assign a = (3 * Stages)'(a_i);
  assign b = (3 * Stages)'(b_i);

  for (genvar i = 0; i < Stages; i++) begin : gen_stage
    assign equal[i]   = a[3*i+:3] == b[3*i+:3];
    assign greater[i] = a[3*i+:3] > b[3*i+:3];
  end

  assign sum  = {1'b0, greater} + {1'b0, greater | equal} + (Stages + 1)'(tie_i);
  assign ge_o = sum[Stages];

  // Only the carry out of the sum is used.
  logic unused_sum;
  assign unused_sum = ^sum[Stages-1:0];

endmodule
