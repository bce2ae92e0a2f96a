// SPDX-License-Identifier: Apache-2.0
// The parts of AES (FIPS 197) that are plain functions. A block is 16 bytes, byte 0 first: row r of column c is byte
// r + 4 * c.
package aes_pkg;

  typedef logic [15:0][7:0] block_t;

  // Multiplication by {02} in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (section 4.2.1).
  function automatic logic [7:0] xtime(input logic [7:0] a);
    return {a[6:0], 1'b0} ^ (a[7] ? 8'h1b : 8'h00);
  endfunction

  // SubBytes of all bytes, or InvSubBytes (section 5.1.1): p goes through all powers of {03} and q through those of its
  // inverse {f6}, so that each is the other's inverse; then the affine transformation.
  function automatic logic [255:0][7:0] substitution(input logic inverse);
    logic [255:0][7:0] out;
    logic [7:0] p, q, affine;
    out = '0;
    out[inverse ? 8'h63 : 8'h00] = inverse ? 8'h00 : 8'h63;
    p = 8'h01;
    q = 8'h01;
    for (int unsigned i = 0; i < 255; i++) begin
      p      = p ^ xtime(p);
      q      = q ^ {q[6:0], 1'b0};
      q      = q ^ {q[5:0], 2'b0};
      q      = q ^ {q[3:0], 4'b0};
      q      = q ^ (q[7] ? 8'h09 : 8'h00);
      affine = q ^ {q[6:0], q[7]} ^ {q[5:0], q[7:6]} ^ {q[4:0], q[7:5]} ^ {q[3:0], q[7:4]} ^ 8'h63;
      if (inverse) out[affine] = p;
      else out[p] = affine;
    end
    return out;
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

  // InvMixColumns (section 5.3.3): the inverse is MixColumns after each column times {04}x^2 + {05}.
  function automatic block_t inverse_mix_columns(input block_t a);
    block_t out;
    for (int unsigned i = 0; i < 16; i++) begin
      int unsigned c;
      c      = i - i % 4;
      out[i] = a[i] ^ xtime(xtime(a[i] ^ a[c+(i+2)%4]));
    end
    return mix_columns(out);
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
