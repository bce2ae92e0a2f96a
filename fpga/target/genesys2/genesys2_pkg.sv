// SPDX-License-Identifier: Apache-2.0
// The AXI ports of soc_genesys2: 32 bits to the board's devices, 256 bits to LiteDRAM.
`include "axi/typedef.svh"
package genesys2_pkg;
  import fabric_axi_pkg::*;

  // Address, ID and response are those of fabric_axi_pkg; only the data differ.
  typedef logic [31:0] io_data_t;
  typedef logic [3:0] io_strb_t;
  `AXI_TYPEDEF_W_CHAN_T(io_w_t, io_data_t, io_strb_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(io_r_t, io_data_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(io_req_t, sub_aw_t, io_w_t, sub_ar_t)
  `AXI_TYPEDEF_RESP_T(io_resp_t, sub_b_t, io_r_t)

  typedef logic [255:0] mem_data_t;
  typedef logic [31:0] mem_strb_t;
  `AXI_TYPEDEF_W_CHAN_T(mem_w_t, mem_data_t, mem_strb_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(mem_r_t, mem_data_t, sub_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(mem_req_t, sub_aw_t, mem_w_t, sub_ar_t)
  `AXI_TYPEDEF_RESP_T(mem_resp_t, sub_b_t, mem_r_t)

endpackage
