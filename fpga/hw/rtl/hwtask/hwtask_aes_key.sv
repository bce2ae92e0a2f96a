// SPDX-License-Identifier: Apache-2.0
// AES-128 key schedule: the next round key, or the previous one (FIPS 197, section 5.2).
// Combinational, for hwtask_aes128, which computes a round key in the cycle of its round.
module hwtask_aes_key (
  /// 1: key_o is the key before key_i.
  input  logic            back_i,
  /// Number of the later of the two keys, 1 .. 10.
  input  logic [3:0]      round_i,
  input  hwtask_aes_pkg::block_t key_i,
  output hwtask_aes_pkg::block_t key_o
);

  logic [3:0][31:0] old, out;
  logic [31:0] word, rotated, substituted, mixed;

  assign old     = key_i;
  // In the inverse direction the last word of the earlier key is the sum of two words of the later
  // one.
  assign word    = back_i ? old[3] ^ old[2] : old[3];
  assign rotated = {word[7:0], word[31:8]};

  for (genvar i = 0; i < 4; i++) begin : gen_substitute
    hwtask_aes_sbox i_sbox (.inverse_i(1'b0), .byte_i(rotated[8*i+:8]),
                            .byte_o(substituted[8*i+:8]));
  end

  assign mixed = old[0] ^ substituted ^ {24'b0, hwtask_aes_pkg::round_constant(round_i)};

  assign out[0] = mixed;
  assign out[1] = old[1] ^ (back_i ? old[0] : mixed);
  assign out[2] = old[2] ^ (back_i ? old[1] : old[1] ^ mixed);
  assign out[3] = old[3] ^ (back_i ? old[2] : old[2] ^ old[1] ^ mixed);

  assign key_o = out;

endmodule
