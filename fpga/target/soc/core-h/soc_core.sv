// SPDX-License-Identifier: Apache-2.0
// A CVA6 with the H extension, of the checkout that CVA6_DIR names, with the port of soc_top.
`include "axi/typedef.svh"
`include "axi/assign.svh"
module soc_core
  import fabric_axi_pkg::*;
  import soc_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; the core starts at RomBase.
  input  logic       rst_ni,
  /// External interrupts: 0 of M-mode, 1 of S-mode.
  input  logic [1:0] irq_i,
  input  logic       ipi_i,
  input  logic       timer_irq_i,
  /// AXI4 manager of both caches, with atomics.
  output core_req_t  req_o,
  input  core_resp_t resp_i
);

  // As on the Genesys2: no access to a device is repeated or merged, and no Zicond.
  function automatic config_pkg::cva6_cfg_t configure();
    config_pkg::cva6_user_cfg_t user;
    user                       = cva6_config_pkg::cva6_cfg;
    user.RVZiCond              = 1'b0;
    user.CvxifEn               = 1'b0;
    user.NrNonIdempotentRules  = 1;
    user.NonIdempotentAddrBase = 1024'(64'h0);
    user.NonIdempotentLength   = 1024'(DramBase);
    user.NrExecuteRegionRules  = 3;
    user.ExecuteRegionAddrBase = 1024'({DramBase, BoardBase, RomBase});
    user.ExecuteRegionLength   = 1024'({DramSize, BoardEnd - BoardBase, 64'h1_0000});
    user.NrCachedRegionRules   = 1;
    user.CachedRegionAddrBase  = 1024'(DramBase);
    user.CachedRegionLength    = 1024'(DramSize);
    return build_config_pkg::build_config(user);
  endfunction
  localparam config_pkg::cva6_cfg_t Config = configure();

  typedef logic [Config.AxiUserWidth-1:0] user_t;
  `AXI_TYPEDEF_AW_CHAN_T(aw_t, bus_addr_t, core_id_t, user_t)
  `AXI_TYPEDEF_W_CHAN_T(wide_w_t, bus_data_t, bus_strb_t, user_t)
  `AXI_TYPEDEF_B_CHAN_T(b_t, core_id_t, user_t)
  `AXI_TYPEDEF_AR_CHAN_T(ar_t, bus_addr_t, core_id_t, user_t)
  `AXI_TYPEDEF_R_CHAN_T(r_t, bus_data_t, core_id_t, user_t)
  `AXI_TYPEDEF_REQ_T(req_t, aw_t, wide_w_t, ar_t)
  `AXI_TYPEDEF_RESP_T(resp_t, b_t, r_t)

  req_t req;
  resp_t resp;
  cva6 #(
    .CVA6Cfg(Config), .axi_ar_chan_t(ar_t), .axi_aw_chan_t(aw_t), .axi_w_chan_t(wide_w_t),
    .b_chan_t(b_t), .r_chan_t(r_t), .noc_req_t(req_t), .noc_resp_t(resp_t)
  ) i_core (
    .clk_i,
    .rst_ni,
    .boot_addr_i(RomBase[Config.VLEN-1:0]),
    .hart_id_i('0),
    .irq_i,
    .ipi_i,
    .time_irq_i(timer_irq_i),
    .debug_req_i(1'b0),
    .rvfi_probes_o(),
    .cvxif_req_o(),
    .cvxif_resp_i('0),
    .noc_req_o(req),
    .noc_resp_i(resp)
  );

  // The same members, except for the width of the user signals, which nobody uses.
  `AXI_ASSIGN_REQ_STRUCT(req_o, req)
  `AXI_ASSIGN_RESP_STRUCT(resp, resp_i)

endmodule
