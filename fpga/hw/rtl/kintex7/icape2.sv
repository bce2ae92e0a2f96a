// SPDX-License-Identifier: Apache-2.0
// The pins of ICAPE2, for tools that do not have the primitive's model.
(* blackbox *)
module ICAPE2 #(
  parameter ICAP_WIDTH = "X32"
) (
  /// All other pins are synchronous to its rising edge.
  input  logic        CLK,
  /// Active low: selects the port in this cycle.
  input  logic        CSIB,
  /// 0: write, 1: read. A change while CSIB is low starts an abort.
  input  logic        RDWRB,
  /// A configuration word; the bits of each byte are reversed (icap).
  input  logic [31:0] I,
  /// Status during a write: bit 7 is CFGERR_B, low after an error.
  output logic [31:0] O
);
endmodule
