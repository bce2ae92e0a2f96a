// SPDX-License-Identifier: Apache-2.0
// From the SoC to LiteDRAM: to LiteX's clock, then to 256 bits. LiteX's own converter would write a
// single word of 64 bits to the lowest lane, whatever its address.
module memory_bridge
  import fabric_axi_pkg::*;
  import genesys2_pkg::*;
(
  input  logic      clk_i,
  /// Asynchronous, active low. Both sides must be reset together: the clock crossing has pointers
  /// in each.
  input  logic      rst_ni,
  /// AXI4 from the SoC, 64 bits, without atomics.
  input  sub_req_t  req_i,
  output sub_resp_t resp_o,
  /// The bus: LiteX's clock and its reset, and AXI4 of 256 bits; up to four reads are converted at
  /// a time.
  input  logic      bus_clk_i,
  input  logic      bus_rst_ni,
  output mem_req_t  bus_req_o,
  input  mem_resp_t bus_resp_i
);

  sub_req_t fast_req;
  sub_resp_t fast_resp;
  axi_cdc #(
    .aw_chan_t(sub_aw_t), .w_chan_t(w_t), .b_chan_t(sub_b_t), .ar_chan_t(sub_ar_t),
    .r_chan_t(sub_r_t), .axi_req_t(sub_req_t), .axi_resp_t(sub_resp_t), .LogDepth(3)
  ) i_mem_clock (
    .src_clk_i(clk_i),
    .src_rst_ni(rst_ni),
    .src_req_i(req_i),
    .src_resp_o(resp_o),
    .dst_clk_i(bus_clk_i),
    .dst_rst_ni(bus_rst_ni),
    .dst_req_o(fast_req),
    .dst_resp_i(fast_resp)
  );
  axi_dw_converter #(
    .AxiMaxReads(4), .AxiSlvPortDataWidth(64), .AxiMstPortDataWidth(256),
    .AxiAddrWidth(BusAddrWidth), .AxiIdWidth(SubIdWidth), .aw_chan_t(sub_aw_t),
    .mst_w_chan_t(mem_w_t), .slv_w_chan_t(w_t), .b_chan_t(sub_b_t), .ar_chan_t(sub_ar_t),
    .mst_r_chan_t(mem_r_t), .slv_r_chan_t(sub_r_t), .axi_mst_req_t(mem_req_t),
    .axi_mst_resp_t(mem_resp_t), .axi_slv_req_t(sub_req_t), .axi_slv_resp_t(sub_resp_t)
  ) i_wide (
    .clk_i(bus_clk_i),
    .rst_ni(bus_rst_ni),
    .slv_req_i(fast_req),
    .slv_resp_o(fast_resp),
    .mst_req_o(bus_req_o),
    .mst_resp_i(bus_resp_i)
  );

endmodule
