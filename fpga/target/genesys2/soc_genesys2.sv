// SPDX-License-Identifier: Apache-2.0
// The SoC on a Genesys2: soc_top with the regions and the ICAP of a Kintex-7, and the
// AXI ports that LiteX's side of the board expects (board.py): plain signals in LiteX's clock, 32
// bits to the devices, 256 bits to LiteDRAM.
module soc_genesys2
  import fabric_axi_pkg::*;
  import genesys2_pkg::*;
  import region_pkg::*;
  import soc_pkg::*;
(
  /// The SoC's clock and reset.
  input  logic        clk_i,
  input  logic        rst_ni,
  /// Clock and reset of the bus ports and of the interrupts.
  input  logic        bus_clk_i,
  input  logic        bus_rst_ni,
  // the board's devices, from 0x3000_0000 to 0x4fff_ffff
  output logic [4:0]  io_aw_id_o,
  output logic [31:0] io_aw_addr_o,
  output logic [7:0]  io_aw_len_o,
  output logic [2:0]  io_aw_size_o,
  output logic [1:0]  io_aw_burst_o,
  output logic        io_aw_lock_o,
  output logic [3:0]  io_aw_cache_o,
  output logic [2:0]  io_aw_prot_o,
  output logic [3:0]  io_aw_qos_o,
  output logic [3:0]  io_aw_region_o,
  output logic        io_aw_valid_o,
  input  logic        io_aw_ready_i,
  output logic [4:0]  io_ar_id_o,
  output logic [31:0] io_ar_addr_o,
  output logic [7:0]  io_ar_len_o,
  output logic [2:0]  io_ar_size_o,
  output logic [1:0]  io_ar_burst_o,
  output logic        io_ar_lock_o,
  output logic [3:0]  io_ar_cache_o,
  output logic [2:0]  io_ar_prot_o,
  output logic [3:0]  io_ar_qos_o,
  output logic [3:0]  io_ar_region_o,
  output logic        io_ar_valid_o,
  input  logic        io_ar_ready_i,
  output logic [31:0] io_w_data_o,
  output logic [3:0] io_w_strb_o,
  output logic        io_w_last_o,
  output logic        io_w_valid_o,
  input  logic        io_w_ready_i,
  input  logic [4:0]  io_b_id_i,
  input  logic [1:0]  io_b_resp_i,
  input  logic        io_b_valid_i,
  output logic        io_b_ready_o,
  input  logic [4:0]  io_r_id_i,
  input  logic [31:0] io_r_data_i,
  input  logic [1:0]  io_r_resp_i,
  input  logic        io_r_last_i,
  input  logic        io_r_valid_i,
  output logic        io_r_ready_o,
  // LiteDRAM, from 0x8000_0000 to 0xbfff_ffff
  output logic [4:0]  mem_aw_id_o,
  output logic [31:0] mem_aw_addr_o,
  output logic [7:0]  mem_aw_len_o,
  output logic [2:0]  mem_aw_size_o,
  output logic [1:0]  mem_aw_burst_o,
  output logic        mem_aw_lock_o,
  output logic [3:0]  mem_aw_cache_o,
  output logic [2:0]  mem_aw_prot_o,
  output logic [3:0]  mem_aw_qos_o,
  output logic [3:0]  mem_aw_region_o,
  output logic        mem_aw_valid_o,
  input  logic        mem_aw_ready_i,
  output logic [4:0]  mem_ar_id_o,
  output logic [31:0] mem_ar_addr_o,
  output logic [7:0]  mem_ar_len_o,
  output logic [2:0]  mem_ar_size_o,
  output logic [1:0]  mem_ar_burst_o,
  output logic        mem_ar_lock_o,
  output logic [3:0]  mem_ar_cache_o,
  output logic [2:0]  mem_ar_prot_o,
  output logic [3:0]  mem_ar_qos_o,
  output logic [3:0]  mem_ar_region_o,
  output logic        mem_ar_valid_o,
  input  logic        mem_ar_ready_i,
  output logic [255:0] mem_w_data_o,
  output logic [31:0] mem_w_strb_o,
  output logic        mem_w_last_o,
  output logic        mem_w_valid_o,
  input  logic        mem_w_ready_i,
  input  logic [4:0]  mem_b_id_i,
  input  logic [1:0]  mem_b_resp_i,
  input  logic        mem_b_valid_i,
  output logic        mem_b_ready_o,
  input  logic [4:0]  mem_r_id_i,
  input  logic [255:0] mem_r_data_i,
  input  logic [1:0]  mem_r_resp_i,
  input  logic        mem_r_last_i,
  input  logic        mem_r_valid_i,
  output logic        mem_r_ready_o,
  /// Interrupts of the board's devices, levels in any clock: synchronized here.
  input  logic [4:0]  irq_i,
  // UART and SPI of the core
  input  logic        rx_i,
  output logic        tx_o,
  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i,
  // shared devices
  input  logic        shared_rx_i,
  output logic        shared_tx_o,
  output logic        shared_cs_no,
  output logic        shared_sck_o,
  output logic        shared_mosi_o,
  input  logic        shared_miso_i,
  input  logic [31:0] pin_i,
  output logic [31:0] pin_o,
  output logic [31:0] pin_oe_o,
  // the shared display, on the VGA connector: 5, 6 and 5 bits
  output logic        hsync_o,
  output logic        vsync_o,
  output logic [4:0]  red_o,
  output logic [5:0]  green_o,
  output logic [4:0]  blue_o
);

  // regions.toml has a pblock for each region, platform/genesys2 the numbers of VMs and devices.
  localparam int unsigned NumPrrs = 3;
  localparam int unsigned NumVms = 4;
  localparam int unsigned NumDevs = 4;

  // ---- SoC ----
  sub_req_t  dram_req, board_req;
  sub_resp_t dram_resp, board_resp;
  logic [BoardSources-1:0] irq;
  logic [NumPrrs-1:0] region_rst_n;
  region_req_t [NumPrrs-1:0] region_req;
  region_rsp_t [NumPrrs-1:0] region_rsp;
  logic cfg_valid, cfg_ready, cfg_error, cfg_abort;
  logic [31:0] cfg_data;
  io_eth_pkg::gmii_t gmii;
  logic pixel, hsync, vsync, data_enable;
  display_pkg::pixel_t color;

  for (genvar i = 0; i < BoardSources; i++) begin : gen_irq
    sync i_sync (
      .clk_i,
      .rst_ni,
      .serial_i(irq_i[i]),
      .serial_o(irq[i])
    );
  end
  soc_top #(
    .NumVms(NumVms), .NumSharedVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs), .SorterDepth(64),
    .NumSorters(3), .StartAddr(64'h4000_0000)
  ) i_soc (
    .clk_i,
    .rst_ni,
    .dram_req_o(dram_req),
    .dram_resp_i(dram_resp),
    .board_req_o(board_req),
    .board_resp_i(board_resp),
    .board_irq_i(irq),
    .rx_i,
    .tx_o,
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i,
    .region_rst_no(region_rst_n),
    .region_req_o(region_req),
    .region_rsp_i(region_rsp),
    .cfg_valid_o(cfg_valid),
    .cfg_data_o(cfg_data),
    .cfg_ready_i(cfg_ready),
    .cfg_error_i(cfg_error),
    .cfg_abort_o(cfg_abort),
    .shared_tx_o,
    .shared_rx_i,
    .shared_cs_no,
    .shared_sck_o,
    .shared_mosi_o,
    .shared_miso_i,
    .send_tick_i(1'b1),
    .gmii_o(gmii),
    .receive_tick_i(1'b1),
    .gmii_i(gmii),  // VMs reach each other; the PHY belongs to LiteEth
    .pin_i,
    .pin_o,
    .pin_oe_o,
    .pixel_o(pixel),
    .hsync_o(hsync),
    .vsync_o(vsync),
    .data_enable_o(data_enable),
    .color_o(color)
  );

  // ---- Regions and ICAP ----
  // A region's content is synthesized apart from this design, once for each task; here it is a
  // black box.
  for (genvar p = 0; p < NumPrrs; p++) begin : gen_region
    logic [$bits(region_rsp_t)-1:0] rsp;
    region_partition i_region (
      .clk_i,
      .rst_ni(region_rst_n[p]),
      .req_i(region_req[p]),
      .rsp_o(rsp)
    );
    assign region_rsp[p] = rsp;
  end
  icap i_cfg (
    .clk_i,
    .rst_ni,
    .valid_i(cfg_valid),
    .data_i(cfg_data),
    .ready_o(cfg_ready),
    .abort_i(cfg_abort),
    .error_o(cfg_error)
  );

  // ---- Display: registers at the pins, which change together with a pixel ----
  always_ff @(posedge clk_i) begin
    if (pixel) begin
      hsync_o <= hsync;
      vsync_o <= vsync;
      red_o   <= data_enable ? color.red[7:3] : '0;
      green_o <= data_enable ? color.green[7:2] : '0;
      blue_o  <= data_enable ? color.blue[7:3] : '0;
    end
  end

  // ---- Board's devices ----
  io_req_t io_req;
  io_resp_t io_resp;
  device_bridge i_devices (
    .clk_i,
    .rst_ni,
    .req_i(board_req),
    .resp_o(board_resp),
    .bus_clk_i,
    .bus_rst_ni,
    .bus_req_o(io_req),
    .bus_resp_i(io_resp)
  );
  assign io_aw_id_o = io_req.aw.id;
  assign io_aw_addr_o = io_req.aw.addr[31:0];
  assign io_aw_len_o = io_req.aw.len;
  assign io_aw_size_o = io_req.aw.size;
  assign io_aw_burst_o = io_req.aw.burst;
  assign io_aw_lock_o = io_req.aw.lock;
  assign io_aw_cache_o = io_req.aw.cache;
  assign io_aw_prot_o = io_req.aw.prot;
  assign io_aw_qos_o = io_req.aw.qos;
  assign io_aw_region_o = io_req.aw.region;
  assign io_aw_valid_o = io_req.aw_valid;
  assign io_ar_id_o = io_req.ar.id;
  assign io_ar_addr_o = io_req.ar.addr[31:0];
  assign io_ar_len_o = io_req.ar.len;
  assign io_ar_size_o = io_req.ar.size;
  assign io_ar_burst_o = io_req.ar.burst;
  assign io_ar_lock_o = io_req.ar.lock;
  assign io_ar_cache_o = io_req.ar.cache;
  assign io_ar_prot_o = io_req.ar.prot;
  assign io_ar_qos_o = io_req.ar.qos;
  assign io_ar_region_o = io_req.ar.region;
  assign io_ar_valid_o = io_req.ar_valid;
  assign io_w_data_o = io_req.w.data;
  assign io_w_strb_o = io_req.w.strb;
  assign io_w_last_o = io_req.w.last;
  assign io_w_valid_o = io_req.w_valid;
  assign io_b_ready_o = io_req.b_ready;
  assign io_r_ready_o = io_req.r_ready;
  always_comb begin
    io_resp          = '0;
    io_resp.aw_ready = io_aw_ready_i;
    io_resp.ar_ready = io_ar_ready_i;
    io_resp.w_ready  = io_w_ready_i;
    io_resp.b        = '{id: io_b_id_i, resp: io_b_resp_i, user: '0};
    io_resp.b_valid  = io_b_valid_i;
    io_resp.r        = '{id: io_r_id_i, data: io_r_data_i, resp: io_r_resp_i, last: io_r_last_i,
                         user: '0};
    io_resp.r_valid  = io_r_valid_i;
  end

  // ---- DRAM ----
  mem_req_t mem_req;
  mem_resp_t mem_resp;
  memory_bridge i_memory (
    .clk_i,
    .rst_ni,
    .req_i(dram_req),
    .resp_o(dram_resp),
    .bus_clk_i,
    .bus_rst_ni,
    .bus_req_o(mem_req),
    .bus_resp_i(mem_resp)
  );
  // The uncached alias from 0xc000_0000 on is the same memory.
  assign mem_aw_id_o = mem_req.aw.id;
  assign mem_aw_addr_o = {2'b10, mem_req.aw.addr[29:0]};
  assign mem_aw_len_o = mem_req.aw.len;
  assign mem_aw_size_o = mem_req.aw.size;
  assign mem_aw_burst_o = mem_req.aw.burst;
  assign mem_aw_lock_o = mem_req.aw.lock;
  assign mem_aw_cache_o = mem_req.aw.cache;
  assign mem_aw_prot_o = mem_req.aw.prot;
  assign mem_aw_qos_o = mem_req.aw.qos;
  assign mem_aw_region_o = mem_req.aw.region;
  assign mem_aw_valid_o = mem_req.aw_valid;
  assign mem_ar_id_o = mem_req.ar.id;
  assign mem_ar_addr_o = {2'b10, mem_req.ar.addr[29:0]};
  assign mem_ar_len_o = mem_req.ar.len;
  assign mem_ar_size_o = mem_req.ar.size;
  assign mem_ar_burst_o = mem_req.ar.burst;
  assign mem_ar_lock_o = mem_req.ar.lock;
  assign mem_ar_cache_o = mem_req.ar.cache;
  assign mem_ar_prot_o = mem_req.ar.prot;
  assign mem_ar_qos_o = mem_req.ar.qos;
  assign mem_ar_region_o = mem_req.ar.region;
  assign mem_ar_valid_o = mem_req.ar_valid;
  assign mem_w_data_o = mem_req.w.data;
  assign mem_w_strb_o = mem_req.w.strb;
  assign mem_w_last_o = mem_req.w.last;
  assign mem_w_valid_o = mem_req.w_valid;
  assign mem_b_ready_o = mem_req.b_ready;
  assign mem_r_ready_o = mem_req.r_ready;
  always_comb begin
    mem_resp          = '0;
    mem_resp.aw_ready = mem_aw_ready_i;
    mem_resp.ar_ready = mem_ar_ready_i;
    mem_resp.w_ready  = mem_w_ready_i;
    mem_resp.b        = '{id: mem_b_id_i, resp: mem_b_resp_i, user: '0};
    mem_resp.b_valid  = mem_b_valid_i;
    mem_resp.r        = '{id: mem_r_id_i, data: mem_r_data_i, resp: mem_r_resp_i,
                          last: mem_r_last_i, user: '0};
    mem_resp.r_valid  = mem_r_valid_i;
  end

  // An interface of 64 bits has address bits and user signals that these ports do not have.
  logic unused;
  assign unused = &{1'b0, io_req, mem_req, color};

endmodule
