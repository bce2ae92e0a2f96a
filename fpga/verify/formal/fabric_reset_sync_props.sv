// SPDX-License-Identifier: Apache-2.0
// Proves the reset synchronizer for any input after the first cycle: its output is low whenever the
// input is low, also without a clock edge, and high exactly from the second edge after the release.
module fabric_reset_sync_props (
  input logic clk_i,
  input logic rst_ni
);
  logic first = 1'b1;
  always_ff @(posedge clk_i) first <= 1'b0;
  always_comb assume (!first || !rst_ni);

  logic rst_n;
  fabric_reset_sync dut (.clk_i, .rst_ni, .rst_no(rst_n));

  // Clock edges since the release, at most 3.
  logic [1:0] edges;
  logic was_high = 1'b0;
  always_ff @(posedge clk_i) begin
    was_high <= rst_n;
    if (!rst_ni) edges <= '0;
    else if (edges != 2'd3) edges <= edges + 2'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!first) assert (rst_n == (rst_ni && edges >= 2'd2));
    else assert (!rst_n);
    cover (rst_n && edges == 2'd3);
    cover (was_high && !rst_ni);
    cover (!rst_n && rst_ni && edges == 2'd1);
  end
endmodule
