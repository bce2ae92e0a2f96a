// SPDX-License-Identifier: Apache-2.0
// SubBytes or InvSubBytes of one byte, as a table.
module aes_sbox #(
  parameter bit Inverse = 0
) (
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);

  localparam logic [255:0][7:0] Table = aes_pkg::substitution(Inverse);

  logic [7:0] rom[256];

  initial for (int unsigned i = 0; i < 256; i++) rom[i] = Table[i];

  assign byte_o = rom[byte_i];

endmodule
