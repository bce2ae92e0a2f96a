// SPDX-License-Identifier: Apache-2.0
// PULP's PLIC with a register port of the peripherals: 30 sources, seven priorities, contexts 0
// (M-mode) and 1 (S-mode).
`include "register_interface/typedef.svh"
module soc_plic
  import soc_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; all priorities 0 and nothing enabled after it.
  input  logic        rst_ni,
  /// Pulse: registers of 32 bits; a read of a claim register claims.
  input  access_t     access_i,
  /// In the cycle after the access.
  output logic [63:0] data_o,
  /// Levels, synchronous.
  input  logic [NumSources:1] source_i,
  /// Levels of the two contexts.
  output logic [1:0]  irq_o
);

  typedef logic [31:0] addr_t;
  typedef logic [31:0] data_t;
  typedef logic [3:0] strb_t;
  `REG_BUS_TYPEDEF_ALL(plic, addr_t, data_t, strb_t)
  plic_req_t req;
  plic_rsp_t rsp;

  assign req = '{addr: {2'b0, access_i.addr[29:2], 2'b0}, write: access_i.write != '0,
                 wdata: access_i.word, wstrb: '1, valid: access_i.valid};
  always_ff @(posedge clk_i) data_o <= {2{rsp.rdata}};

  plic_top #(
    .N_SOURCE(NumSources), .N_TARGET(2), .MAX_PRIO(7), .reg_req_t(plic_req_t),
    .reg_rsp_t(plic_rsp_t)
  ) i_plic (
    .clk_i,
    .rst_ni,
    .req_i(req),
    .resp_o(rsp),
    .le_i('0),
    .irq_sources_i(source_i),
    .eip_targets_o(irq_o)
  );

  logic unused;
  assign unused = &{1'b0, rsp.error, rsp.ready, access_i};

endmodule
