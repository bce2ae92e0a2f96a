// SPDX-License-Identifier: Apache-2.0
// Which VMs a received frame is for: the owner of a unicast address; all VMs for broadcast; those
// that want it for multicast; and only VMs of the frame's VLAN. A frame to a group does not return
// to its sender, if the switch outside reflects it.
//
// One VM is compared in a cycle, from the sixth byte on: those with other addresses are passed
// before the rest of the head has arrived, and the first one with this address is found with the
// 16th byte. The end of a good frame is at least 44 bytes later.
module io_eth_filter
  import fabric_pkg::*;
  import io_eth_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no frame is in progress after it.
  input  logic       rst_ni,
  /// A frame (io_eth_mac_rx): pulses, a byte or the end, never both.
  input  logic       valid_i,
  input  logic [7:0] byte_i,
  input  logic       end_i,
  /// Rows (io_eth_table): row_i is that of vm_o in the same cycle.
  output vm_t        vm_o,
  input  io_eth_vm_t row_i,
  // of a good frame; complete at its end
  /// Has the head arrived, VM after VM is added.
  output logic [NumVms-1:0] mask_o,
  /// VMs that have the frame's address, but not its VLAN.
  output logic [NumVms-1:0] missed_o,
  output logic       tagged_o,
  /// Its destination is a group, or all.
  output logic       group_o
);

  localparam int unsigned AddressBytes = 6;
  // the last two: VLAN, if the type is that of a tag
  localparam int unsigned HeadBytes = HeaderBytes + 2;

  mac_t dest_q, source_q;
  logic [15:0] type_q, tag_q;
  logic [4:0] count_q;     // bytes of the head
  logic walk_q;
  logic complete, group, addressed, reflected, same_vlan, has_vlan, step;

  assign complete = count_q == 5'(HeadBytes);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {dest_q, source_q, type_q, tag_q} <= '0;
      count_q <= '0;
    end else if (end_i) count_q <= '0;
    else if (valid_i && !complete) begin
      if (count_q < 5'(AddressBytes)) dest_q <= {dest_q[39:0], byte_i};
      else {source_q, type_q, tag_q} <= {source_q[39:0], type_q, tag_q, byte_i};
      count_q <= count_q + 1'b1;
    end
  end

  // A tag for VLAN 0 has a priority only.
  assign tagged_o  = type_q == TypeTag;
  assign has_vlan  = tagged_o && tag_q[11:0] != '0;
  // The lowest bit of the byte that is sent first.
  assign group     = dest_q[40];
  assign group_o   = group;
  assign addressed = row_i.enabled && (group ? dest_q == '1 || row_i.multicast
                                       : row_i.mac == dest_q);
  assign reflected = group && row_i.mac == source_q;
  assign same_vlan = has_vlan ? row_i.in_vlan && row_i.vlan == tag_q[11:0] : !row_i.in_vlan;
  // A VM with the address waits for the VLAN; the others need not.
  assign step      = walk_q && (complete || !addressed);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q   <= 1'b0;
      vm_o     <= '0;
      mask_o   <= '0;
      missed_o <= '0;
    end else if (end_i) begin
      walk_q   <= 1'b0;
      vm_o     <= '0;
      mask_o   <= '0;
      missed_o <= '0;
    end else begin
      if (valid_i && count_q == 5'(AddressBytes - 1)) walk_q <= 1'b1;
      if (step) begin
        for (int v = 0; v < int'(NumVms); v++) begin
          if (vm_o == vm_t'(v)) begin
            mask_o[v]   <= addressed && !reflected && same_vlan;
            missed_o[v] <= addressed && !group && !same_vlan;
          end
        end
        vm_o <= vm_o + 1'b1;
        if (vm_o == vm_t'(NumVms - 1)) walk_q <= 1'b0;
      end
    end
  end

endmodule
