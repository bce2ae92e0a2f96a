// SPDX-License-Identifier: Apache-2.0
// The SoC: a CVA6, its peripherals, and the fabric with accelerators and shared devices
// (docs/fabric.md). Outside are the DRAM, regions and ICAP, which differ between
// chips, and the board's own devices. It connects its blocks.
module soc_top
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
  import io_eth_pkg::gmii_t;
  import display_pkg::pixel_t;
  import soc_pkg::*;
#(
  /// VMs of the accelerators, 1..16, and of the shared devices. Both with their manager have the
  /// sources from 8 to 30.
  parameter int unsigned NumVms = 2,
  parameter int unsigned NumSharedVms = 2,
  /// As in fabric_top.
  /// As in fabric_top.
  parameter int unsigned NumDevs = 2,
  parameter int unsigned NumPrrs = 2,
  parameter int unsigned SorterDepth = 16,
  parameter int unsigned NumSorters = 3,
  /// Transactions of a manager, and to a subordinate, at a time.
  parameter int unsigned MaxTransactions = 8,
  /// Where the core goes from the boot ROM: to DRAM, or to the board's devices, from which it may
  /// execute.
  parameter logic [63:0] StartAddr = DramBase,
  localparam int unsigned NumPins = 32
) (
  input  logic clk_i,
  /// Asynchronous, active low; core and peripherals leave reset at the second edge of clk_i after
  /// its release, the fabric and the shared devices, with synchronizers of their own, two edges
  /// later.
  input  logic rst_ni,
  /// DRAM: AXI4, bursts of core and DMA, addresses from 0x8000_0000 to 0xbfff_ffff. rst_ni must
  /// reset the memory's port, too.
  output sub_req_t  dram_req_o,
  input  sub_resp_t dram_resp_i,
  /// The board's devices, from 0x3000_0000 to 0x4fff_ffff, AXI4 with atomics; their interrupts are
  /// levels, synchronous to clk_i.
  output sub_req_t  board_req_o,
  input  sub_resp_t board_resp_i,
  input  logic [BoardSources-1:0] board_irq_i,
  /// The core's UART and SPI (soc_uart, soc_spi).
  input  logic rx_i,
  output logic tx_o,
  output logic cs_no,
  output logic sck_o,
  output logic mosi_o,
  input  logic miso_i,
  /// Regions and ICAP, with the contracts of fabric_top.
  output logic        [NumPrrs-1:0] region_rst_no,
  output region_req_t [NumPrrs-1:0] region_req_o,
  input  region_rsp_t [NumPrrs-1:0] region_rsp_i,
  output logic        cfg_valid_o,
  output logic [31:0] cfg_data_o,
  input  logic        cfg_ready_i,
  input  logic        cfg_error_i,
  output logic        cfg_abort_o,
  /// Shared devices, with the contracts of io_top.
  output logic   shared_tx_o,
  input  logic   shared_rx_i,
  output logic   shared_cs_no,
  output logic   shared_sck_o,
  output logic   shared_mosi_o,
  input  logic   shared_miso_i,
  input  logic   send_tick_i,
  output gmii_t  gmii_o,
  input  logic   receive_tick_i,
  input  gmii_t  gmii_i,
  input  logic [NumPins-1:0] pin_i,
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o,
  output logic   pixel_o,
  output logic   hsync_o,
  output logic   vsync_o,
  output logic   data_enable_o,
  output pixel_t color_o
);

  localparam int unsigned SharedSource = FabricSource + 1 + NumVms;
  if (SharedSource + NumSharedVms > NumSources) begin : gen_too_many
    $error("more VMs than sources of the PLIC");
  end

  logic rst_n;
  fabric_reset_sync i_reset (
    .clk_i,
    .rst_ni,
    .rst_no(rst_n)
  );

  // ---- Crossbar: core and DMA to five subordinates ----
  typedef enum int unsigned {PortPeripherals, PortBoard, PortFabric, PortShared, PortDram,
                             NumPorts} port_e;
  core_req_t  [1:0] manager_req;
  core_resp_t [1:0] manager_resp;
  sub_req_t  [NumPorts-1:0] port_req;
  sub_resp_t [NumPorts-1:0] port_resp;

  // An address outside of all rules is answered with DECERR by the crossbar.
  localparam int unsigned NumRules = 5;
  localparam axi_pkg::xbar_rule_64_t [NumRules-1:0] Map = '{
    '{idx: PortPeripherals, start_addr: RomBase, end_addr: BoardBase},
    '{idx: PortBoard, start_addr: BoardBase, end_addr: BoardEnd},
    '{idx: PortFabric, start_addr: FabricBase, end_addr: SharedBase},
    '{idx: PortShared, start_addr: SharedBase, end_addr: SharedEnd},
    '{idx: PortDram, start_addr: DramBase, end_addr: AliasBase + DramSize}
  };
  localparam axi_pkg::xbar_cfg_t Crossbar = '{
    NoSlvPorts: 2, NoMstPorts: NumPorts, MaxMstTrans: MaxTransactions, MaxSlvTrans: MaxTransactions,
    FallThrough: 1'b0, LatencyMode: axi_pkg::CUT_ALL_PORTS, AxiIdWidthSlvPorts: CoreIdWidth,
    AxiIdUsedSlvPorts: CoreIdWidth, UniqueIds: 1'b0, AxiAddrWidth: BusAddrWidth, AxiDataWidth: 64,
    NoAddrRules: NumRules
  };
  axi_xbar #(
    .Cfg(Crossbar), .slv_aw_chan_t(core_aw_t), .mst_aw_chan_t(sub_aw_t), .w_chan_t(w_t),
    .slv_b_chan_t(core_b_t), .mst_b_chan_t(sub_b_t), .slv_ar_chan_t(core_ar_t),
    .mst_ar_chan_t(sub_ar_t), .slv_r_chan_t(core_r_t), .mst_r_chan_t(sub_r_t),
    .slv_req_t(core_req_t), .slv_resp_t(core_resp_t), .mst_req_t(sub_req_t),
    .mst_resp_t(sub_resp_t), .rule_t(axi_pkg::xbar_rule_64_t)
  ) i_crossbar (
    .clk_i,
    .rst_ni(rst_n),
    .test_i(1'b0),
    .slv_ports_req_i(manager_req),
    .slv_ports_resp_o(manager_resp),
    .mst_ports_req_o(port_req),
    .mst_ports_resp_i(port_resp),
    .addr_map_i(Map),
    .en_default_mst_port_i('0),
    .default_mst_port_i('0)
  );

  // ---- Core ----
  logic [1:0] irq;
  logic ipi, timer_irq;
  soc_core i_core (
    .clk_i,
    .rst_ni(rst_n),
    .irq_i(irq),
    .ipi_i(ipi),
    .timer_irq_i(timer_irq),
    .req_o(manager_req[0]),
    .resp_i(manager_resp[0])
  );

  // ---- Peripherals ----
  logic [63:0] now;
  logic [NumSources:BoardSource] source;
  logic fabric_manager_irq, shared_manager_irq;
  logic [NumVms-1:0] fabric_irq;
  logic [NumSharedVms-1:0] shared_irq;
  always_comb begin
    // Sources in the order of soc_pkg.
    source = '0;
    source[BoardSource+:BoardSources]      = board_irq_i;
    source[FabricSource]                   = fabric_manager_irq;
    source[FabricSource+1+:NumVms]         = fabric_irq;
    source[SharedSource]                   = shared_manager_irq;
    source[SharedSource+1+:NumSharedVms]   = shared_irq;
  end
  soc_peripherals #(.StartAddr(StartAddr)) i_peripherals (
    .clk_i,
    .rst_ni(rst_n),
    .req_i(port_req[PortPeripherals]),
    .resp_o(port_resp[PortPeripherals]),
    .source_i(source),
    .irq_o(irq),
    .ipi_o(ipi),
    .timer_irq_o(timer_irq),
    .time_o(now),
    .rx_i,
    .tx_o,
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i
  );
  assign board_req_o = port_req[PortBoard];
  assign port_resp[PortBoard] = board_resp_i;

  // ---- DRAM ----
  soc_atomics i_atomics (
    .clk_i,
    .rst_ni(rst_n),
    .req_i(port_req[PortDram]),
    .resp_o(port_resp[PortDram]),
    .memory_req_o(dram_req_o),
    .memory_resp_i(dram_resp_i)
  );

  // ---- Fabric ----
  mgr_req_t   fabric_req;
  mgr_resp_t  fabric_resp;
  slot_req_t  shared_req;
  slot_resp_t shared_resp;
  fabric_top #(
    .NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs), .SorterDepth(SorterDepth),
    .NumSorters(NumSorters)
  ) i_fabric (
    .clk_i,
    .rst_ni(rst_n),
    .sub_req_i(port_req[PortFabric]),
    .sub_resp_o(port_resp[PortFabric]),
    .mgr_req_o(fabric_req),
    .mgr_resp_i(fabric_resp),
    .irq_manager_o(fabric_manager_irq),
    .irq_vm_o(fabric_irq),
    .region_rst_no,
    .region_req_o,
    .region_rsp_i,
    .cfg_valid_o,
    .cfg_data_o,
    .cfg_ready_i,
    .cfg_error_i,
    .cfg_abort_o
  );
  io_top #(.NumVms(NumSharedVms), .NumPins(NumPins)) i_shared (
    .clk_i,
    .rst_ni(rst_n),
    .time_i(now),
    .sub_req_i(port_req[PortShared]),
    .sub_resp_o(port_resp[PortShared]),
    .mgr_req_o(shared_req),
    .mgr_resp_i(shared_resp),
    .irq_manager_o(shared_manager_irq),
    .irq_vm_o(shared_irq),
    .tx_o(shared_tx_o),
    .rx_i(shared_rx_i),
    .cs_no(shared_cs_no),
    .sck_o(shared_sck_o),
    .mosi_o(shared_mosi_o),
    .miso_i(shared_miso_i),
    .send_tick_i,
    .gmii_o,
    .receive_tick_i,
    .gmii_i,
    .pin_i,
    .pin_o,
    .pin_oe_o,
    .frame_i(1'b0),
    .pixel_o,
    .hsync_o,
    .vsync_o,
    .data_enable_o,
    .color_o
  );
  soc_dma i_dma (
    .clk_i,
    .rst_ni(rst_n),
    .fabric_req_i(fabric_req),
    .fabric_resp_o(fabric_resp),
    .shared_req_i(shared_req),
    .shared_resp_o(shared_resp),
    .req_o(manager_req[1]),
    .resp_i(manager_resp[1])
  );

endmodule
