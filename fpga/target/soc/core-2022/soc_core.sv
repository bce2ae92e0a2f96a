// SPDX-License-Identifier: Apache-2.0
// The CVA6 of the Python package pythondata-cpu-cva6, of 2022, without the H extension, with the
// port of soc_top.
`include "axi/assign.svh"
module soc_core
  import soc_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; the core starts at RomBase.
  input  logic       rst_ni,
  /// External interrupts: 0 of M-mode, 1 of S-mode.
  input  logic [1:0] irq_i,
  input  logic       ipi_i,
  input  logic       timer_irq_i,
  /// AXI4 manager of both caches, with atomics; bursts are INCR.
  output core_req_t  req_o,
  input  core_resp_t resp_i
);

  // The arrays of the configuration have 16 members; the members beyond the number of rules do not
  // matter.
  localparam ariane_pkg::ariane_cfg_t Config = '{
    RASDepth: 2, BTBEntries: 32, BHTEntries: 128,
    NrNonIdempotentRules: 1, NonIdempotentAddrBase: 1024'(64'h0),
    NonIdempotentLength: 1024'(DramBase), NrExecuteRegionRules: 3,
    ExecuteRegionAddrBase: 1024'({DramBase, BoardBase, RomBase}),
    ExecuteRegionLength: 1024'({DramSize, BoardEnd - BoardBase, 64'h1_0000}),
    NrCachedRegionRules: 1, CachedRegionAddrBase: 1024'(DramBase),
    CachedRegionLength: 1024'(DramSize), AxiCompliant: 1'b1, SwapEndianess: 1'b0,
        DmBaseAddress: 64'h0, NrPMPEntries: 8
  };

  ariane_axi::req_t req;
  ariane_axi::resp_t resp;
  cva6 #(.ArianeCfg(Config)) i_core (
    .clk_i,
    .rst_ni,
    .boot_addr_i(RomBase),
    .hart_id_i('0),
    .irq_i,
    .ipi_i,
    .time_irq_i(timer_irq_i),
    .debug_req_i(1'b0),
    .cvxif_req_o(),
    .cvxif_resp_i('0),
    .axi_req_o(req),
    .axi_resp_i(resp)
  );

  // The same members, except for the width of the user signals, which nobody uses.
  `AXI_ASSIGN_REQ_STRUCT(req_o, req)
  `AXI_ASSIGN_RESP_STRUCT(resp, resp_i)

endmodule
