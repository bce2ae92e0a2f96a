// SPDX-License-Identifier: Apache-2.0
// A block RAM of pixels: one port writes, the other one reads a pixel and makes it black. Both
// ports never use the same pixel in a cycle.
module display_bank
  import display_pkg::*;
#(
  /// A power of two. Not cleared by a reset: display_timing clears all pixels before the first
  /// frame.
  parameter int unsigned Pixels = 1024,
  localparam int unsigned AddrBits = $clog2(Pixels)
) (
  input  logic                clk_i,
  /// Writes pixel_i in this cycle.
  input  logic                write_i,
  input  logic [AddrBits-1:0] write_addr_i,
  input  pixel_t              pixel_i,
  /// Reads a pixel in this cycle, and makes it black.
  input  logic                take_i,
  input  logic [AddrBits-1:0] take_addr_i,
  /// In the cycle after take_i.
  output pixel_t              pixel_o
);

  logic [23:0] mem [Pixels];

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_addr_i] <= pixel_i;
    if (take_i) begin
      mem[take_addr_i] <= '0;
      pixel_o <= mem[take_addr_i];
    end
  end

endmodule
