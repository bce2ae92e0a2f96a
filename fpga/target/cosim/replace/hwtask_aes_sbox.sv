// SPDX-License-Identifier: Apache-2.0
// fpga/hw/rtl/hwtask/hwtask_aes_sbox.sv as two tables: simulates AES faster, and compiles in a
// quarter of the time. For simulation only; fpga/verify/formal/hwtask_aes_sbox_props.sv holds for
// both (fpga/verify/benches/test_formal.py).
module hwtask_aes_sbox (
  input  logic       inverse_i,
  input  logic [7:0] byte_i,
  output logic [7:0] byte_o
);

  typedef logic [255:0][7:0] table_t;

  // SubBytes (FIPS 197, 5.1.1): p runs through all powers of {03}, q through those of its inverse.
  function automatic table_t substitution();
    table_t out;
    logic [7:0] p, q;
    out    = '0;
    p      = 8'h01;
    q      = 8'h01;
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

  function automatic table_t inverted(input table_t of);
    table_t out;
    out = '0;
    for (int unsigned i = 0; i < 256; i++) out[of[i]] = 8'(i);
    return out;
  endfunction

  localparam table_t Forward = substitution();
  localparam table_t Back = inverted(Forward);

  assign byte_o = inverse_i ? Back[byte_i] : Forward[byte_i];

endmodule
