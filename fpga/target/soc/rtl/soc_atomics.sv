// SPDX-License-Identifier: Apache-2.0
// AMOs and LR/SC in front of a memory that has neither, and one address for DRAM's cached window
// and its uncached alias. PULP's axi_riscv_atomics does the work; this module adapts the types of
// soc_top.
`include "axi/assign.svh"
module soc_atomics
  import fabric_axi_pkg::*;
  import soc_pkg::*;
(
  input  logic      clk_i,
  /// Asynchronous, active low; no reservation after it.
  input  logic      rst_ni,
  /// AXI4 with atomics, from the crossbar; addresses in either window. At most one write is
  /// outstanding at the memory.
  input  sub_req_t  req_i,
  output sub_resp_t resp_o,
  /// AXI4 without atomics, to the DRAM; addresses in DRAM's own window.
  output sub_req_t  memory_req_o,
  input  sub_resp_t memory_resp_i
);

  AXI_BUS #(.AXI_ADDR_WIDTH(64), .AXI_DATA_WIDTH(64), .AXI_ID_WIDTH(SubIdWidth),
            .AXI_USER_WIDTH(1)) core (), memory ();

  // The windows differ in one bit, so that reservations and AMOs see one address for both.
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
