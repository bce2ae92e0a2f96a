// SPDX-License-Identifier: Apache-2.0
// From the SoC to the board's devices: to 32 bits, then to LiteX's clock. A core's access of up to
// 32 bits stays one access: LiteX's own converter would read the word beside it, too.
module device_bridge
  import fabric_axi_pkg::*;
  import genesys2_pkg::*;
(
  input  logic      clk_i,
  /// Asynchronous, active low. Both sides must be reset together: the clock crossing has pointers
  /// in each.
  input  logic      rst_ni,
  /// AXI4 from the SoC, 64 bits; atomics get an error. One read of more than 32 bits is converted
  /// at a time.
  input  sub_req_t  req_i,
  output sub_resp_t resp_o,
  /// The bus: LiteX's clock and its reset, and AXI4 of 32 bits without atomics.
  input  logic      bus_clk_i,
  input  logic      bus_rst_ni,
  output io_req_t   bus_req_o,
  input  io_resp_t  bus_resp_i
);

  sub_req_t plain_req;
  sub_resp_t plain_resp;
  io_req_t narrow_req;
  io_resp_t narrow_resp;
  axi_atop_filter #(
    .AxiIdWidth(SubIdWidth), .AxiMaxWriteTxns(2), .req_t(sub_req_t), .resp_t(sub_resp_t)
  ) i_no_atomics (
    .clk_i,
    .rst_ni,
    .slv_req_i(req_i),
    .slv_resp_o(resp_o),
    .mst_req_o(plain_req),
    .mst_resp_i(plain_resp)
  );
  axi_dw_converter #(
    .AxiMaxReads(1), .AxiSlvPortDataWidth(64), .AxiMstPortDataWidth(32),
    .AxiAddrWidth(BusAddrWidth), .AxiIdWidth(SubIdWidth), .aw_chan_t(sub_aw_t),
    .mst_w_chan_t(io_w_t), .slv_w_chan_t(w_t), .b_chan_t(sub_b_t), .ar_chan_t(sub_ar_t),
    .mst_r_chan_t(io_r_t), .slv_r_chan_t(sub_r_t), .axi_mst_req_t(io_req_t),
    .axi_mst_resp_t(io_resp_t), .axi_slv_req_t(sub_req_t), .axi_slv_resp_t(sub_resp_t)
  ) i_narrow (
    .clk_i,
    .rst_ni,
    .slv_req_i(plain_req),
    .slv_resp_o(plain_resp),
    .mst_req_o(narrow_req),
    .mst_resp_i(narrow_resp)
  );
  axi_cdc #(
    .aw_chan_t(sub_aw_t), .w_chan_t(io_w_t), .b_chan_t(sub_b_t), .ar_chan_t(sub_ar_t),
    .r_chan_t(io_r_t), .axi_req_t(io_req_t), .axi_resp_t(io_resp_t), .LogDepth(2)
  ) i_io_clock (
    .src_clk_i(clk_i),
    .src_rst_ni(rst_ni),
    .src_req_i(narrow_req),
    .src_resp_o(narrow_resp),
    .dst_clk_i(bus_clk_i),
    .dst_rst_ni(bus_rst_ni),
    .dst_req_o(bus_req_o),
    .dst_resp_i(bus_resp_i)
  );

endmodule
