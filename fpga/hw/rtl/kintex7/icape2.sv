// SPDX-License-Identifier: Apache-2.0
// The pins of ICAPE2, for tools that do not have the primitive's model.
(* blackbox *)
module ICAPE2 #(
  parameter ICAP_WIDTH = "X32"
) (
  input  logic        CLK,
  input  logic        CSIB,
  input  logic        RDWRB,
  input  logic [31:0] I,
  output logic [31:0] O
);
endmodule
