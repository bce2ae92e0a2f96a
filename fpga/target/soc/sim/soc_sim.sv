// SPDX-License-Identifier: Apache-2.0
// The SoC in simulation (docs/fabric.md): soc_top with models of the DRAM, the regions with two HW
// tasks, the ICAP, two flashes and a board. The pins 1 and 0 are connected, as are
// Ethernet's output and input.
module soc_sim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
  import io_eth_pkg::gmii_t;
  import soc_pkg::*;
#(
  parameter int unsigned NumVms = 2,
  localparam int unsigned NumPrrs = 2
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  /// Cycles from a request to the DRAM to its first beat, at least 1.
  input  logic [7:0] latency_i,
  /// UART of the core, and the one that VMs share.
  input  logic       rx_i,
  output logic       tx_o,
  output logic       shared_tx_o,
  /// The program has ended the simulation.
  output logic       ends_o,
  output logic [7:0] code_o
);

  sub_req_t  dram_req, board_req;
  sub_resp_t dram_resp, board_resp;
  logic [BoardSources-1:0] board_irq;
  logic cs_n, sck, mosi, miso, shared_cs_n, shared_sck, shared_mosi, shared_miso;
  logic [NumPrrs-1:0] region_rst_n;
  region_req_t [NumPrrs-1:0] region_req;
  region_rsp_t [NumPrrs-1:0] region_rsp;
  logic cfg_valid, cfg_ready, cfg_error, cfg_abort;
  logic [31:0] cfg_data, pin_out, pin_enable, pin_in;
  gmii_t gmii;

  soc_top #(.NumVms(NumVms), .NumSharedVms(NumVms), .NumPrrs(NumPrrs)) i_soc (
    .clk_i,
    .rst_ni,
    .dram_req_o(dram_req),
    .dram_resp_i(dram_resp),
    .board_req_o(board_req),
    .board_resp_i(board_resp),
    .board_irq_i(board_irq),
    .rx_i,
    .tx_o,
    .cs_no(cs_n),
    .sck_o(sck),
    .mosi_o(mosi),
    .miso_i(miso),
    .region_rst_no(region_rst_n),
    .region_req_o(region_req),
    .region_rsp_i(region_rsp),
    .cfg_valid_o(cfg_valid),
    .cfg_data_o(cfg_data),
    .cfg_ready_i(cfg_ready),
    .cfg_error_i(cfg_error),
    .cfg_abort_o(cfg_abort),
    .shared_tx_o,
    .shared_rx_i(1'b1),
    .shared_cs_no(shared_cs_n),
    .shared_sck_o(shared_sck),
    .shared_mosi_o(shared_mosi),
    .shared_miso_i(shared_miso),
    .send_tick_i(1'b1),
    .gmii_o(gmii),
    .receive_tick_i(1'b1),
    .gmii_i(gmii),
    .pin_i(pin_in),
    .pin_o(pin_out),
    .pin_oe_o(pin_enable),
    .pixel_o(),
    .hsync_o(),
    .vsync_o(),
    .data_enable_o(),
    .color_o()
  );
  assign pin_in = {30'h0, pin_out[0], 1'b0};

  soc_memory i_memory (
    .clk_i,
    .rst_ni,
    .latency_i,
    .req_i(dram_req),
    .resp_o(dram_resp)
  );
  soc_board i_board (
    .clk_i,
    .rst_ni,
    .req_i(board_req),
    .resp_o(board_resp),
    .irq_o(board_irq),
    .time_i(i_soc.now),
    .pin_i(pin_out[0] && pin_enable[0]),
    .ends_o,
    .code_o
  );

  icap i_cfg (
    .clk_i,
    .rst_ni,
    .valid_i(cfg_valid),
    .data_i(cfg_data),
    .ready_o(cfg_ready),
    .abort_i(cfg_abort),
    .error_o(cfg_error)
  );
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_region
    region_model #(.RealTasks(1'b1), .Tasks(7'b000_0011)) i_region (
      .clk_i,
      .rst_ni,
      .held_i(i_cfg.held_q[p]),
      .torn_i(i_cfg.torn_q[p]),
      .seed_i(32'(p)),
      .region_rst_ni(region_rst_n[p]),
      .req_i(region_req[p]),
      .rsp_o(region_rsp[p])
    );
  end

  flash_model #(.Sectors(2), .EraseCycles(20_000), .ProgramCycles(5_000)) i_flash (
    .clk_i,
    .rst_ni,
    .cs_ni(cs_n),
    .sck_i(sck),
    .mosi_i(mosi),
    .miso_o(miso),
    .ignored_o(),
    .shortest_o()
  );
  flash_model #(.Sectors(4), .EraseCycles(20_000), .ProgramCycles(5_000)) i_shared_flash (
    .clk_i,
    .rst_ni,
    .cs_ni(shared_cs_n),
    .sck_i(shared_sck),
    .mosi_i(shared_mosi),
    .miso_o(shared_miso),
    .ignored_o(),
    .shortest_o()
  );

  logic unused;
  assign unused = &{1'b0, pin_out, pin_enable};

endmodule
