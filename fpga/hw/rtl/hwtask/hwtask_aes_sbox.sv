// SPDX-License-Identifier: Apache-2.0
// SubBytes or InvSubBytes of one byte. Both share one GF(2^8) inverse; SubBytes applies the affine
// transformation after the inverse, InvSubBytes its inverse before. Combinational: 16 of them for a
// round, four for a round key.
module hwtask_aes_sbox
  import hwtask_aes_pkg::*;
(
  /// 1: InvSubBytes.
  input  logic       inverse_i,
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);

  logic [7:0] inverse;

  assign inverse = tower_inverse(matrix(IntoTower, inverse_i ? inverse_affine(byte_i) : byte_i));
  assign byte_o  = inverse_i ? matrix(FromTower, inverse) : affine(matrix(FromTower, inverse));

endmodule
