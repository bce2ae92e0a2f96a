// SPDX-License-Identifier: Apache-2.0
// The combinational functions of AES (FIPS 197). A block is 16 bytes, byte 0 first: row r of column
// c is byte r + 4 * c.
package hwtask_aes_pkg;

  typedef logic [15:0][7:0] block_t;

  // Multiplication by {02} in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (section 4.2.1).
  function automatic logic [7:0] xtime(input logic [7:0] a);
    return {a[6:0], 1'b0} ^ (a[7] ? 8'h1b : 8'h00);
  endfunction

  // ---- SubBytes by arithmetic in smaller fields ----
  //
  // The inverse in GF(2^8) is computed in the tower field GF(2^4)[y] modulo y^2 + y + {a}, whose
  // elements are two nibbles: three multiplications and one 4-bit inverse. GF(2^4) is modulo x^4 +
  // x + 1. The matrices below, one byte for each bit of the operand, map a byte into the tower
  // field and back; {4c} is the root of the AES polynomial that needs the fewest XORs. A table of
  // 32 LUTs would be as small, but yosys restructures the table for speed and makes it larger.
  typedef logic [3:0] nibble_t;
  localparam logic [7:0][7:0] IntoTower = 64'hbc_5c_e3_50_3a_32_4c_01;
  localparam logic [7:0][7:0] FromTower = 64'h35_52_a7_42_0c_5c_e1_01;

  // Multiplies a vector of bits by a matrix over GF(2).
  function automatic logic [7:0] matrix(input logic [7:0][7:0] columns, input logic [7:0] a);
    logic [7:0] out;
    out = '0;
    for (int unsigned i = 0; i < 8; i++) if (a[i]) out = out ^ columns[i];
    return out;
  endfunction

  // Product in GF(2^4), most significant bit of b first.
  function automatic nibble_t nibble_product(input nibble_t a, input nibble_t b);
    nibble_t out;
    out = '0;
    for (int i = 3; i >= 0; i--)
      out = {out[2:0], 1'b0} ^ (out[3] ? 4'h3 : 4'h0) ^ (b[i] ? a : 4'h0);
    return out;
  endfunction

  // Inverse in GF(2^4); that of 0 is 0.
  function automatic nibble_t nibble_inverse(input nibble_t a);
    logic [15:0][3:0] table_of_all;
    table_of_all = 64'h834a_5c2f_67bd_e910;
    return table_of_all[a];
  endfunction

  // The product of {h, l} and its conjugate {h, h + l} is the nibble h^2 * {a} + h * l + l^2, the
  // only value to invert.
  function automatic logic [7:0] tower_inverse(input logic [7:0] a);
    nibble_t h, l, scale;
    h     = a[7:4];
    l     = a[3:0];
    scale = nibble_inverse(nibble_product(nibble_product(h, h), 4'ha) ^ nibble_product(h ^ l, l));
    return {nibble_product(h, scale), nibble_product(h ^ l, scale)};
  endfunction

  // The affine transformation after the inverse (section 5.1.1), and its inverse (5.3.2).
  function automatic logic [7:0] affine(input logic [7:0] a);
    return a ^ {a[6:0], a[7]} ^ {a[5:0], a[7:6]} ^ {a[4:0], a[7:5]} ^ {a[3:0], a[7:4]} ^ 8'h63;
  endfunction

  function automatic logic [7:0] inverse_affine(input logic [7:0] a);
    return {a[6:0], a[7]} ^ {a[4:0], a[7:5]} ^ {a[1:0], a[7:2]} ^ 8'h05;
  endfunction

  // ShiftRows, InvShiftRows (sections 5.1.2, 5.3.1)
  function automatic block_t shift_rows(input block_t a);
    block_t out;
    for (int unsigned i = 0; i < 16; i++) out[i] = a[(i+4*(i%4))%16];
    return out;
  endfunction

  function automatic block_t inverse_shift_rows(input block_t a);
    block_t out;
    for (int unsigned i = 0; i < 16; i++) out[(i+4*(i%4))%16] = a[i];
    return out;
  endfunction

  // MixColumns (section 5.1.3): each column times {03}x^3 + {01}x^2 + {01}x + {02}
  function automatic block_t mix_columns(input block_t a);
    block_t out;
    for (int unsigned i = 0; i < 16; i++) begin
      int unsigned c;
      c      = i - i % 4;
      out[i] = xtime(a[i]) ^ xtime(a[c+(i+1)%4]) ^ a[c+(i+1)%4] ^ a[c+(i+2)%4] ^ a[c+(i+3)%4];
    end
    return out;
  endfunction

  // InvMixColumns (section 5.3.3) equals MixColumns after this step: each column times {04}x^2 +
  // {05}.
  function automatic block_t before_inverse_mix(input block_t a);
    block_t out;
    for (int unsigned i = 0; i < 16; i++) out[i] = a[i] ^ xtime(xtime(a[i] ^ a[i-i%4+(i+2)%4]));
    return out;
  endfunction

  // Rcon (section 5.2), 1 .. 10
  function automatic logic [7:0] round_constant(input logic [3:0] round);
    case (round)
      4'd9:    return 8'h1b;
      4'd10:   return 8'h36;
      default: return 8'h01 << (round - 4'd1);
    endcase
  endfunction

endpackage
