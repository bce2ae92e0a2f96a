// SPDX-License-Identifier: Apache-2.0
// How many of bits_i are set: groups of six, which are three LUT6 each, then a tree of adders.
module sorter_count #(
  parameter  int unsigned Width    = 64,
  localparam int unsigned OutWidth = $clog2(Width + 1)
) (
  input  logic [Width-1:0]    bits_i,
  output logic [OutWidth-1:0] count_o
);

  localparam int unsigned Groups = (Width + 5) / 6;
  localparam int unsigned Leaves = 2 ** $clog2(Groups);

  // The sums as a heap: node 1 is the root, nodes Leaves .. 2 * Leaves - 1 are the leaves.
  logic [6*Leaves-1:0] bits;
  logic [OutWidth+2:0] sums[2*Leaves];

  assign bits = (6 * Leaves)'(bits_i);

  // Bit `which` of the number of ones in each number from 0 to 63: the contents of a LUT6.
  function automatic logic [63:0] table_of(input int unsigned which);
    logic [63:0] contents;
    for (int unsigned n = 0; n < 64; n++) begin
      int unsigned ones;
      ones = (n & 1) + ((n >> 1) & 1) + ((n >> 2) & 1) + ((n >> 3) & 1) + ((n >> 4) & 1) + ((n >> 5) & 1);
      contents[n] = ((ones >> which) & 1) != 0;
    end
    return contents;
  endfunction

  localparam logic [63:0] Table0 = table_of(0);
  localparam logic [63:0] Table1 = table_of(1);
  localparam logic [63:0] Table2 = table_of(2);

  for (genvar i = 0; i < Leaves; i++) begin : gen_leaf
    logic [5:0] six;
    assign six              = bits[6*i+:6];
    assign sums[Leaves + i] = (OutWidth + 3)'({Table2[six], Table1[six], Table0[six]});
  end
  for (genvar i = 1; i < Leaves; i++) begin : gen_node
    assign sums[i] = sums[2*i] + sums[2*i+1];
  end

  assign sums[0] = '0;
  assign count_o = sums[1][OutWidth-1:0];

  // The upper bits are room for groups that are not full.
  logic unused_sums;
  assign unused_sums = ^{sums[0], sums[1][OutWidth+2:OutWidth]};

endmodule
