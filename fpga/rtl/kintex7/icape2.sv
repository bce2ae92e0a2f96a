// SPDX-License-Identifier: Apache-2.0
// The pins of the chip's own configuration primitive, for tools that do not know it.
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
