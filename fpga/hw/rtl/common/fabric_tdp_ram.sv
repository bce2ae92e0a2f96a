// SPDX-License-Identifier: Apache-2.0
// A true dual-port block RAM, for the memories of the IF pages: each port reads or writes in a
// cycle; read data are valid in the next cycle and stay until the next read of that port.
// Initialised to zero; no reset clears it. If one port writes a word that the other accesses in the
// same cycle, hardware does not define what the other reads, or what two writes of the same byte
// leave: software that accesses what the present job reads or writes can meet this.
module fabric_tdp_ram #(
  /// Words of 64 bits.
  parameter int unsigned Words = 512,
  localparam int unsigned AddrBits = $clog2(Words)
) (
  input  logic                clk_i,
  /// Access through port A in this cycle.
  input  logic                a_en_i,
  /// Byte strobes; 0: read.
  input  logic [7:0]          a_we_i,
  input  logic [AddrBits-1:0] a_addr_i,
  input  logic [63:0]         a_data_i,
  output logic [63:0]         a_data_o,
  /// Port B, as port A.
  input  logic                b_en_i,
  input  logic [7:0]          b_we_i,
  input  logic [AddrBits-1:0] b_addr_i,
  input  logic [63:0]         b_data_i,
  output logic [63:0]         b_data_o
);

  logic [63:0] mem [Words];
  initial for (int i = 0; i < int'(Words); i++) mem[i] = '0;

  always_ff @(posedge clk_i) begin
    if (a_en_i) begin
      for (int i = 0; i < 8; i++) begin
        if (a_we_i[i]) mem[a_addr_i][8*i+:8] <= a_data_i[8*i+:8];
      end
      // A write keeps the port's read data (mode NO_CHANGE).
      if (a_we_i == '0) a_data_o <= mem[a_addr_i];
    end
    if (b_en_i) begin
      for (int i = 0; i < 8; i++) begin
        if (b_we_i[i]) mem[b_addr_i][8*i+:8] <= b_data_i[8*i+:8];
      end
      if (b_we_i == '0) b_data_o <= mem[b_addr_i];
    end
  end

endmodule
