// SPDX-License-Identifier: Apache-2.0
// The SoC's address map and the types of its AXI ports. Everything below DRAM is non-idempotent:
// the core neither caches it nor repeats or merges accesses (docs/fabric.md).
`include "axi/typedef.svh"
package soc_pkg;
  import fabric_axi_pkg::*;

  // First addresses. ROM, CLINT, PLIC, UART, SPI and DRAM are where CVA6's own SoC has them.
  localparam logic [63:0] RomBase = 64'h0001_0000;
  localparam logic [63:0] ClintBase = 64'h0200_0000;
  localparam logic [63:0] PlicBase = 64'h0c00_0000;
  localparam logic [63:0] UartBase = 64'h1000_0000;
  localparam logic [63:0] SpiBase = 64'h2000_0000;
  localparam logic [63:0] BoardBase = 64'h3000_0000;
  localparam logic [63:0] BoardEnd = 64'h5000_0000;
  localparam logic [63:0] FabricBase = 64'h5000_0000;
  localparam logic [63:0] SharedBase = 64'h5020_0000;
  localparam logic [63:0] SharedEnd = 64'h5040_0000;
  localparam logic [63:0] DramBase = 64'h8000_0000;
  localparam logic [63:0] DramSize = 64'h4000_0000;
  /// The same memory, which the core does not cache here.
  localparam logic [63:0] AliasBase = 64'hc000_0000;

  // Interrupt sources of the PLIC. The board's devices are 3 to 7.
  localparam int unsigned NumSources = 30;
  // UART and SPI of the SoC; BoardSources devices of the board; the fabric's manager, then its VMs,
  // then the shared devices' manager and VMs.
  localparam int unsigned UartSource = 1;
  localparam int unsigned SpiSource = 2;
  localparam int unsigned BoardSource = 3;
  localparam int unsigned BoardSources = 5;
  localparam int unsigned FabricSource = 8;

  // The core's side of the crossbar; the other side has the types of fabric_axi_pkg::sub_req_t, one
  // bit of ID more.
  localparam int unsigned CoreIdWidth = 4;
  typedef logic [CoreIdWidth-1:0] core_id_t;
  `AXI_TYPEDEF_AW_CHAN_T(core_aw_t, bus_addr_t, core_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(core_b_t, core_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(core_ar_t, bus_addr_t, core_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(core_r_t, bus_data_t, core_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(core_req_t, core_aw_t, w_t, core_ar_t)
  `AXI_TYPEDEF_RESP_T(core_resp_t, core_b_t, core_r_t)

  // Both DMA managers merged: the ID's highest bit tells which one.
  localparam int unsigned DmaIdWidth = MgrIdWidth + 1;
  typedef logic [DmaIdWidth-1:0] dma_id_t;
  `AXI_TYPEDEF_AW_CHAN_T(dma_aw_t, bus_addr_t, dma_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(dma_b_t, dma_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(dma_ar_t, bus_addr_t, dma_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(dma_r_t, bus_data_t, dma_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(dma_req_t, dma_aw_t, w_t, dma_ar_t)
  `AXI_TYPEDEF_RESP_T(dma_resp_t, dma_b_t, dma_r_t)

  /// An access to a peripheral: one cycle, answered in the next one.
  typedef struct packed {
    // Pulse: an access in this cycle, which cannot wait.
    logic        valid;
    logic [7:0]  write;  // byte strobes; 0: a read
    // Byte address; of a write bit 2 follows the strobes.
    logic [29:0] addr;
    logic [63:0] data;
    logic [31:0] word;   // the half of `data` at this address
  } access_t;

endpackage
