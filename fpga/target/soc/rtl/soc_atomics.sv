// SPDX-License-Identifier: Apache-2.0
// AMOs and LR/SC in front of a memory that has neither, and one address for DRAM's cached window
// and its uncached alias.
`include "axi/assign.svh"
module soc_atomics
  import fabric_axi_pkg::*;
  import soc_pkg::*;
(
  input  logic      clk_i,
  input  logic      rst_ni,
  input  sub_req_t  req_i,
  output sub_resp_t resp_o,
  output sub_req_t  memory_req_o,
  input  sub_resp_t memory_resp_i
);

  AXI_BUS #(.AXI_ADDR_WIDTH(64), .AXI_DATA_WIDTH(64), .AXI_ID_WIDTH(SubIdWidth),
            .AXI_USER_WIDTH(1)) core (), memory ();

  localparam logic [63:0] AliasBit = DramBase ^ AliasBase;
  sub_req_t req;
  always_comb begin
    req         = req_i;
    req.aw.addr = req_i.aw.addr & ~AliasBit;
    req.ar.addr = req_i.ar.addr & ~AliasBit;
  end

  `AXI_ASSIGN_FROM_REQ(core, req)
  `AXI_ASSIGN_TO_RESP(resp_o, core)
  `AXI_ASSIGN_TO_REQ(memory_req_o, memory)
  `AXI_ASSIGN_FROM_RESP(memory, memory_resp_i)

  axi_riscv_atomics_wrap #(
    .AXI_ADDR_WIDTH(64), .AXI_DATA_WIDTH(64), .AXI_ID_WIDTH(SubIdWidth), .AXI_USER_WIDTH(1),
    .AXI_MAX_WRITE_TXNS(1), .RISCV_WORD_WIDTH(64)
  ) i_atomics (
    .clk_i,
    .rst_ni,
    .slv(core),
    .mst(memory)
  );

endmodule
