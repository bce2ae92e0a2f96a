// SPDX-License-Identifier: Apache-2.0
// Population count of bits_i: groups of six, three LUT6 each, then a tree of adders. Combinational;
// fabric_sorter counts with it the keys that are not greater than a new one.
module sorter_count #(
  /// Bits to count, at least 1.
  parameter  int unsigned Width    = 64,
  localparam int unsigned OutWidth = $clog2(Width + 1)
) (
  input  logic [Width-1:0]    bits_i,
  /// 0 .. Width.
  output logic [OutWidth-1:0] count_o
);

  localparam int unsigned Groups = (Width + 5) / 6;
  // A power of two, so that the tree is complete; the groups beyond Width are 0.
  localparam int unsigned Leaves = 2 ** $clog2(Groups);

  logic [6*Leaves-1:0] bits;
  assign bits = (6 * Leaves)'(bits_i);

  // Bit `which` of the population count of each number from 0 to 63: the contents of a LUT6.
  function automatic logic [63:0] table_of(input int unsigned which);
    logic [63:0] contents;
    for (int unsigned n = 0; n < 64; n++) begin
      int unsigned ones;
      ones = (n & 1) + ((n >> 1) & 1) + ((n >> 2) & 1) + ((n >> 3) & 1) + ((n >> 4) & 1)
             + ((n >> 5) & 1);
      contents[n] = ((ones >> which) & 1) != 0;
    end
    return contents;
  endfunction

  localparam logic [63:0] Table0 = table_of(0);
  localparam logic [63:0] Table1 = table_of(1);
  localparam logic [63:0] Table2 = table_of(2);

  // Heap numbering: node 1 is the root, nodes Leaves .. 2 * Leaves - 1 are the leaves.
  for (genvar i = 1; i < 2 * Leaves; i++) begin : gen_node
    logic [OutWidth+2:0] sum;
    if (i < Leaves) begin : gen_adder
      assign sum = gen_node[2*i].sum + gen_node[2*i+1].sum;
    end else begin : gen_six
      logic [5:0] six;
      assign six = bits[6*(i-Leaves)+:6];
      assign sum = (OutWidth + 3)'({Table2[six], Table1[six], Table0[six]});
    end
  end

  assign count_o = gen_node[1].sum[OutWidth-1:0];

  // The upper bits pad groups that are not full.
  logic unused_sum;
  assign unused_sum = ^gen_node[1].sum[OutWidth+2:OutWidth];

endmodule
