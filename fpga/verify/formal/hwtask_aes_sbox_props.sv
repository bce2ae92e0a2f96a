// SPDX-License-Identifier: Apache-2.0
// Proves the tower-field S-box: for every byte it computes the S-box of FIPS 197, that is the
// inverse and then the affine transformation; and InvSubBytes is its inverse.
module hwtask_aes_sbox_props (
  input logic clk_i,
  input logic [7:0] byte_i
);
  // The table as section 4.2 defines it: p runs through all powers of {03}, q through those of its
  // inverse {f6}.
  function automatic logic [255:0][7:0] standard();
    logic [255:0][7:0] out;
    logic [7:0] p, q;
    out = '0;
    p = 8'h01;
    q = 8'h01;
    out[0] = 8'h63;
    for (int unsigned i = 0; i < 255; i++) begin
      p = p ^ {p[6:0], 1'b0} ^ (p[7] ? 8'h1b : 8'h00);
      q = q ^ {q[6:0], 1'b0};
      q = q ^ {q[5:0], 2'b0};
      q = q ^ {q[3:0], 4'b0};
      q = q ^ (q[7] ? 8'h09 : 8'h00);
      out[p] = q ^ {q[6:0], q[7]} ^ {q[5:0], q[7:6]} ^ {q[4:0], q[7:5]} ^ {q[3:0], q[7:4]} ^ 8'h63;
    end
    return out;
  endfunction

  localparam logic [255:0][7:0] Standard = standard();
  logic [7:0] forward, back;

  hwtask_aes_sbox i_forward (.inverse_i(1'b0), .byte_i, .byte_o(forward));
  hwtask_aes_sbox i_back (.inverse_i(1'b1), .byte_i(forward), .byte_o(back));

  always_ff @(posedge clk_i) begin
    assert (forward == Standard[byte_i]);
    assert (back == byte_i);
    cover (forward == '0);
  end
endmodule
