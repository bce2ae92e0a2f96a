// SPDX-License-Identifier: Apache-2.0
// The managers of the accelerators and of the shared devices as one manager of the crossbar:
// merged, and their IDs made as narrow as the core's.
module soc_dma
  import fabric_axi_pkg::*;
  import soc_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; nothing is outstanding after it.
  input  logic       rst_ni,
  /// AXI4 managers of fabric_top and io_top, served in round robin.
  input  mgr_req_t   fabric_req_i,
  output mgr_resp_t  fabric_resp_o,
  input  slot_req_t  shared_req_i,
  output slot_resp_t shared_resp_o,
  /// To the crossbar: at most 8 different IDs and 8 transactions of each are outstanding; a further
  /// one waits.
  output core_req_t  req_o,
  input  core_resp_t resp_i
);

  mgr_req_t  [1:0] mgr_req;
  mgr_resp_t [1:0] mgr_resp;
  dma_req_t  dma_req;
  dma_resp_t dma_resp;

  // The ID is the first member of the structs.
  always_comb begin
    mgr_req[0]             = fabric_req_i;
    fabric_resp_o          = mgr_resp[0];
    mgr_req[1]             = '0;
    mgr_req[1].aw          = mgr_aw_t'(shared_req_i.aw);
    mgr_req[1].aw_valid    = shared_req_i.aw_valid;
    mgr_req[1].w           = shared_req_i.w;
    mgr_req[1].w_valid     = shared_req_i.w_valid;
    mgr_req[1].b_ready     = shared_req_i.b_ready;
    mgr_req[1].ar          = mgr_ar_t'(shared_req_i.ar);
    mgr_req[1].ar_valid    = shared_req_i.ar_valid;
    mgr_req[1].r_ready     = shared_req_i.r_ready;
    shared_resp_o          = '0;
    shared_resp_o.aw_ready = mgr_resp[1].aw_ready;
    shared_resp_o.w_ready  = mgr_resp[1].w_ready;
    shared_resp_o.b        = slot_b_t'(mgr_resp[1].b);
    shared_resp_o.b_valid  = mgr_resp[1].b_valid;
    shared_resp_o.ar_ready = mgr_resp[1].ar_ready;
    shared_resp_o.r        = slot_r_t'(mgr_resp[1].r);
    shared_resp_o.r_valid  = mgr_resp[1].r_valid;
  end

  axi_mux #(
    .SlvAxiIDWidth(MgrIdWidth), .slv_aw_chan_t(mgr_aw_t), .mst_aw_chan_t(dma_aw_t), .w_chan_t(w_t),
    .slv_b_chan_t(mgr_b_t), .mst_b_chan_t(dma_b_t), .slv_ar_chan_t(mgr_ar_t),
    .mst_ar_chan_t(dma_ar_t), .slv_r_chan_t(mgr_r_t), .mst_r_chan_t(dma_r_t), .slv_req_t(mgr_req_t),
    .slv_resp_t(mgr_resp_t), .mst_req_t(dma_req_t), .mst_resp_t(dma_resp_t), .NoSlvPorts(2)
  ) i_mux (
    .clk_i,
    .rst_ni,
    .test_i(1'b0),
    .slv_reqs_i(mgr_req),
    .slv_resps_o(mgr_resp),
    .mst_req_o(dma_req),
    .mst_resp_i(dma_resp)
  );

  axi_id_remap #(
    .AxiSlvPortIdWidth(DmaIdWidth), .AxiSlvPortMaxUniqIds(8), .AxiMaxTxnsPerId(8),
    .AxiMstPortIdWidth(CoreIdWidth), .slv_req_t(dma_req_t), .slv_resp_t(dma_resp_t),
    .mst_req_t(core_req_t), .mst_resp_t(core_resp_t)
  ) i_remap (
    .clk_i,
    .rst_ni,
    .slv_req_i(dma_req),
    .slv_resp_o(dma_resp),
    .mst_req_o(req_o),
    .mst_resp_i(resp_i)
  );

endmodule
