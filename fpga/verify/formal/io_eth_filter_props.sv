// SPDX-License-Identifier: Apache-2.0
// Proves the filter with three VMs, for all frames and tables that do not change during a frame:
// three cycles after the 16th byte the mask has exactly the VMs that the frame is for; before that
// no other one, and before the 16th byte none.
module io_eth_filter_props
  import fabric_pkg::*;
  import io_eth_pkg::*;
#(
  localparam int unsigned NumVms = 3
) (
  input logic clk_i,
  input logic valid_i, end_i,
  input logic [7:0] byte_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  (* keep *) io_eth_vm_t [NumVms-1:0] rows;
  always_ff @(posedge clk_i) rows <= rows;
  always_comb assume (!(valid_i && end_i));

  vm_t vm;
  logic [NumVms-1:0] mask, missed;
  logic has_tag;
  io_eth_filter #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .valid_i(valid_i && rst_n), .byte_i, .end_i, .vm_o(vm),
    .row_i(vm < vm_t'(NumVms) ? rows[vm[1:0]] : '0), .mask_o(mask), .missed_o(missed),
    .tagged_o(has_tag), .group_o()
  );

  // The first bytes of the frame, and the cycles since the 16th.
  logic [127:0] head_q = '0;
  logic [4:0] number_q = '0;
  logic [2:0] since_q = '0;
  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      if (end_i) number_q <= '0;
      else if (valid_i && number_q != 5'd16) begin
        number_q <= number_q + 1'b1;
        head_q <= {head_q[119:0], byte_i};
      end
      if (end_i || number_q != 5'd16) since_q <= '0;
      else if (since_q != '1) since_q <= since_q + 1'b1;
    end
  end

  mac_t dest, source;
  vlan_t vlan;  // 0: none
  assign dest   = head_q[127:80];
  assign source = head_q[79:32];
  assign vlan   = head_q[31:16] == 16'h8100 ? head_q[11:0] : '0;

  // What the filter has stored of the head, in the places of head_q.
  logic [127:0] from_first, stored;
  logic [7:0] missing;  // bits
  assign missing    = {5'd16 - number_q, 3'b0};
  assign from_first = head_q << missing;
  assign stored     = {number_q < 5'd6 ? dut.dest_q << (missing - 8'd80) : dut.dest_q,
                       number_q < 5'd6 ? 80'b0 : {dut.source_q, dut.type_q, dut.tag_q} << missing};

  (* keep *) logic [1:0] any;
  always_ff @(posedge clk_i) any <= any;
  always_comb assume (any < 2'(NumVms));
  io_eth_vm_t row;
  logic same_vlan, addressed, takes;
  assign row       = rows[any];
  assign same_vlan = vlan == '0 ? !row.in_vlan : row.in_vlan && row.vlan == vlan;
  always_comb begin
    takes = row.mac == dest;
    if (head_q[120]) takes = (dest == 48'hFFFFFFFFFFFF || row.multicast) && row.mac != source;
    takes = takes && same_vlan && row.enabled;
  end
  assign addressed = row.enabled && (from_first[120] ? from_first[127:80] == '1 || row.multicast
                                                     : from_first[127:80] == row.mac);

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (number_q == '0 && since_q == '0 && head_q == '0);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (dut.count_q == number_q && number_q <= 5'd16);
    assert (stored == from_first);
    assert (vm <= vm_t'(NumVms) && (vm >= vm_t'(since_q) || vm == vm_t'(NumVms)));
    if (number_q < 5'd6) assert (vm == '0 && !dut.walk_q);
    else assert (dut.walk_q == (vm != vm_t'(NumVms)));
    if (number_q != 5'd16) assert (since_q == '0);
    assert (vm > vm_t'(any) || !(mask[any] || missed[any]));
    if (vm > vm_t'(any) && number_q != 5'd16) assert (!addressed);

    if (number_q != 5'd16) assert (!(mask[any] || missed[any]));
    if (since_q >= 3'(NumVms)) assert (vm > vm_t'(any));
    if (number_q == 5'd16 && vm > vm_t'(any)) begin  // has been compared
      assert (mask[any] == takes);
      assert (missed[any] == (row.enabled && row.mac == dest && !head_q[120] && !same_vlan));
      assert (has_tag == (head_q[31:16] == 16'h8100));
    end
    cover (end_i && mask == 3'b101 && has_tag);
    cover (mask == 3'b100 && since_q == 3'd1);
    cover (end_i && mask == 3'b000 && missed != '0);
  end
endmodule
