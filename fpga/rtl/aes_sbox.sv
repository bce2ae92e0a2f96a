// SPDX-License-Identifier: Apache-2.0
// SubBytes or InvSubBytes of one byte, as a table.
module aes_sbox #(
  parameter bit Inverse = 0
) (
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);

  logic [7:0] rom[256];

  initial begin
    for (int unsigned i = 0; i < 256; i++) begin
      if (Inverse) rom[aes_pkg::substitute(8'(i))] = 8'(i);
      else rom[i] = aes_pkg::substitute(8'(i));
    end
  end

  assign byte_o = rom[byte_i];

endmodule
