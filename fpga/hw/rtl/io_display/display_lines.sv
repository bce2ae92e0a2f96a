// SPDX-License-Identifier: Apache-2.0
// Two lines: one is sent while the other one is written. Even and odd pixels have a bank each,
// because a word of memory has two pixels, at any position. A pixel is black after it was sent:
// pixels that are not written for the next line are black.
module display_lines
  import display_pkg::*;
#(
  /// Pixels of a line that are stored, a power of two; those after them are black (io_display).
  parameter int unsigned MaxWidth = 1024,
  localparam int unsigned PosBits = $clog2(MaxWidth)
) (
  input  logic        clk_i,
  /// Asynchronous, active low; it does not clear the pixels (clear_i).
  input  logic        rst_ni,
  /// Pulse: the lines change places.
  input  logic        line_i,
  // the line that is written
  /// Writes a pixel at position_i, and one after it, if that is a position of the line.
  input  logic        write_i,
  input  logic        write_second_i,
  input  logic [PosBits-1:0] position_i,
  input  pixel_t      first_i,
  input  pixel_t      second_i,
  // the line that is sent
  /// In the next cycle pixel_o is the one at take_position_i, and black there.
  input  logic        take_i,
  input  logic [PosBits-1:0] take_position_i,
  output pixel_t      pixel_o,
  /// Level: clears the pixels 2n and 2n+1 of both lines, n counted by the low bits of
  /// clear_position_i.
  input  logic        clear_i,
  input  logic [PosBits-1:0] clear_position_i
);

  logic sent_q, odd_q, odd, second;
  logic [PosBits-1:0] even_addr, odd_addr, take_addr;
  pixel_t even_pixel, odd_pixel;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sent_q <= 1'b0;
      odd_q  <= 1'b0;
    end else begin
      sent_q <= sent_q ^ line_i;
      odd_q  <= take_position_i[0];
    end
  end

  assign odd       = position_i[0];
  // A pixel beyond the last position would be written to the first one.
  assign second    = write_second_i && position_i != '1;
  assign odd_addr  = {!sent_q, position_i[PosBits-1:1]};
  assign even_addr = {!sent_q, position_i[PosBits-1:1] + (PosBits - 1)'(odd)};
  assign take_addr = clear_i ? clear_position_i : {sent_q, take_position_i[PosBits-1:1]};

  display_bank #(.Pixels(MaxWidth)) i_even (
    .clk_i, .write_i(odd ? second : write_i), .write_addr_i(even_addr),
    .pixel_i(odd ? second_i : first_i), .take_i(clear_i || (take_i && !take_position_i[0])),
    .take_addr_i(take_addr), .pixel_o(even_pixel)
  );
  display_bank #(.Pixels(MaxWidth)) i_odd (
    .clk_i, .write_i(odd ? write_i : second), .write_addr_i(odd_addr),
    .pixel_i(odd ? first_i : second_i), .take_i(clear_i || (take_i && take_position_i[0])),
    .take_addr_i(take_addr), .pixel_o(odd_pixel)
  );
  assign pixel_o = odd_q ? odd_pixel : even_pixel;

endmodule
