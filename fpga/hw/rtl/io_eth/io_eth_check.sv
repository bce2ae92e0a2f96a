// SPDX-License-Identifier: Apache-2.0
// Whether a VM may send a frame, by its header, a byte at a time: its source is the VM's own
// address; it has no VLAN tag, because the hardware inserts the VM's; and it does not control the
// link (PAUSE, spanning tree), which all VMs share.
module io_eth_check
  import io_eth_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low. A frame's first byte, at index 0, needs no other preparation.
  input  logic        rst_ni,
  /// Of the VM, stable during a frame.
  input  mac_t        mac_i,
  /// The frame's next byte, and its position.
  input  logic        valid_i,
  input  logic [7:0]  byte_i,
  input  logic [10:0] index_i,
  /// In the cycle of the byte with which the frame becomes forbidden.
  output logic        forbidden_o
);

  // The addresses that a bridge does not forward: the last four bits are arbitrary.
  localparam mac_t LinkGroup = 48'h0180C2000000;

  logic link_q;        // the destination is such an address, as far as it is known
  logic [7:0] last_q;  // the byte before
  logic link, of_source, forbidden;
  logic [7:0] own;
  logic [15:0] kind;

  always_comb begin
    own  = '0;
    link = 1'b0;
    for (int b = 0; b < 6; b++) begin
      if (index_i == 11'(b + 6)) own = mac_i[8*(5-b)+:8];
      if (index_i == 11'(b)) link = (byte_i & (b == 5 ? 8'hF0 : 8'hFF)) == LinkGroup[8*(5-b)+:8];
    end
  end

  assign of_source = index_i >= 11'd6 && index_i < 11'd12;
  // The type of the frame.
  assign kind      = {last_q, byte_i};
  assign forbidden = (index_i == 11'd5 && link && link_q) || (of_source && byte_i != own)
                     || (index_i == 11'd13 && (kind inside {TypeTag, TypeServiceTag, TypeControl}));
  assign forbidden_o = valid_i && forbidden;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      link_q <= 1'b0;
      last_q <= '0;
    end else if (valid_i) begin
      link_q <= link && (link_q || index_i == '0);
      last_q <= byte_i;
    end
  end

endmodule
