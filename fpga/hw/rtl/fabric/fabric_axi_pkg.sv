// SPDX-License-Identifier: Apache-2.0
// The types of the fabric's AXI4 ports, made with PULP's macros, for fabric_top and all blocks on
// its buses. Three sets: sub_* for the subordinate port (registers), slot_* for one requester at
// the multiplexer (a region's DMA, the ICAP), mgr_* for the manager port to memory.
`include "axi/typedef.svh"

package fabric_axi_pkg;

  localparam int unsigned SubIdWidth = 5;   // as for the other subordinates of CVA6's SoC
  localparam int unsigned SlotIdWidth = 1;  // one region's DMA
  localparam int unsigned MgrIdWidth = 5;   // sufficient for 8 regions and the ICAP
  // Addresses on the buses have 64 bits; the DMA guard refuses what does not fit into fabric_pkg's
  // AddrWidth.
  localparam int unsigned BusAddrWidth = 64;

  // A beat is 64 bits with a strobe for each byte; `user` has no meaning here.
  typedef logic [BusAddrWidth-1:0] bus_addr_t;
  typedef logic [63:0] bus_data_t;
  typedef logic [7:0] bus_strb_t;
  typedef logic [0:0] bus_user_t;
  typedef logic [SubIdWidth-1:0] sub_id_t;
  typedef logic [SlotIdWidth-1:0] slot_id_t;
  typedef logic [MgrIdWidth-1:0] mgr_id_t;

  // The write data channel has no ID in AXI4, so the three sets share it.
  `AXI_TYPEDEF_W_CHAN_T(w_t, bus_data_t, bus_strb_t, bus_user_t)

  // Subordinate port: requests from the SoC's interconnect to the register space.
  `AXI_TYPEDEF_AW_CHAN_T(sub_aw_t, bus_addr_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(sub_b_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(sub_ar_t, bus_addr_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(sub_r_t, bus_data_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(sub_req_t, sub_aw_t, w_t, sub_ar_t)
  `AXI_TYPEDEF_RESP_T(sub_resp_t, sub_b_t, sub_r_t)

  // One requester: its transactions all have ID 0, so their responses stay in order.
  `AXI_TYPEDEF_AW_CHAN_T(slot_aw_t, bus_addr_t, slot_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(slot_b_t, slot_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(slot_ar_t, bus_addr_t, slot_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(slot_r_t, bus_data_t, slot_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(slot_req_t, slot_aw_t, w_t, slot_ar_t)
  `AXI_TYPEDEF_RESP_T(slot_resp_t, slot_b_t, slot_r_t)

  // Manager port: the multiplexer prepends the requester's number to the ID.
  `AXI_TYPEDEF_AW_CHAN_T(mgr_aw_t, bus_addr_t, mgr_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(mgr_b_t, mgr_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(mgr_ar_t, bus_addr_t, mgr_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(mgr_r_t, bus_data_t, mgr_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(mgr_req_t, mgr_aw_t, w_t, mgr_ar_t)
  `AXI_TYPEDEF_RESP_T(mgr_resp_t, mgr_b_t, mgr_r_t)

endpackage
