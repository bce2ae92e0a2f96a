// SPDX-License-Identifier: Apache-2.0
// The complete fabric for benches: fabric_top, models of the regions and the ICAP,
// and AXI ports with flat names. It only connects them.
module fabric_sim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 4,
  parameter int unsigned NumPrrs = 3,
  parameter int unsigned SorterDepth = 16,
  parameter int unsigned NumSorters = 2,
  parameter bit RealTasks = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  /// The fabric has left reset.
  output logic released_o,
  output logic irq_manager_o,
  output logic [NumVms-1:0] irq_vm_o,
  // Observation for benches: events and state of each region, and the monitor's side.
  output logic [NumPrrs-1:0][14:0] events_o,
  output logic [NumPrrs-1:0][45:0] seen_o,
  output logic [35:0] commands_o,
  output logic [66:0] monitor_o,
  output logic [NumPrrs-1:0] quiet_o,
  /// The region drives an output.
  output logic [NumPrrs-1:0] region_out_o,
  /// An output of the region passes the gate.
  output logic [NumPrrs-1:0] gated_out_o,
  output logic [NumPrrs-1:0] ctx_saving_o,
  output logic [NumPrrs-1:0] ctx_restoring_o,
  output logic [NumPrrs-1:0] coupled_o,
  /// Words that the ICAP has accepted since reset.
  output logic [31:0] cfg_words_o,
  output logic cfg_valid_o,
  output logic cfg_ready_o,
  input  logic [4:0] s_axi_awid,
  input  logic [63:0] s_axi_awaddr,
  input  logic [7:0] s_axi_awlen,
  input  logic [2:0] s_axi_awsize,
  input  logic [1:0] s_axi_awburst,
  input  logic s_axi_awlock,
  input  logic [3:0] s_axi_awcache,
  input  logic [2:0] s_axi_awprot,
  input  logic s_axi_awvalid,
  output logic s_axi_awready,
  input  logic [4:0] s_axi_arid,
  input  logic [63:0] s_axi_araddr,
  input  logic [7:0] s_axi_arlen,
  input  logic [2:0] s_axi_arsize,
  input  logic [1:0] s_axi_arburst,
  input  logic s_axi_arlock,
  input  logic [3:0] s_axi_arcache,
  input  logic [2:0] s_axi_arprot,
  input  logic s_axi_arvalid,
  output logic s_axi_arready,
  input  logic [63:0] s_axi_wdata,
  input  logic [7:0] s_axi_wstrb,
  input  logic s_axi_wlast,
  input  logic s_axi_wvalid,
  output logic s_axi_wready,
  output logic [4:0] s_axi_bid,
  output logic [1:0] s_axi_bresp,
  output logic s_axi_bvalid,
  input  logic s_axi_bready,
  output logic [4:0] s_axi_rid,
  output logic [63:0] s_axi_rdata,
  output logic [1:0] s_axi_rresp,
  output logic s_axi_rlast,
  output logic s_axi_rvalid,
  input  logic s_axi_rready,
  output logic [4:0] m_axi_awid,
  output logic [63:0] m_axi_awaddr,
  output logic [7:0] m_axi_awlen,
  output logic [2:0] m_axi_awsize,
  output logic [1:0] m_axi_awburst,
  output logic m_axi_awlock,
  output logic [3:0] m_axi_awcache,
  output logic [2:0] m_axi_awprot,
  output logic m_axi_awvalid,
  input  logic m_axi_awready,
  output logic [4:0] m_axi_arid,
  output logic [63:0] m_axi_araddr,
  output logic [7:0] m_axi_arlen,
  output logic [2:0] m_axi_arsize,
  output logic [1:0] m_axi_arburst,
  output logic m_axi_arlock,
  output logic [3:0] m_axi_arcache,
  output logic [2:0] m_axi_arprot,
  output logic m_axi_arvalid,
  input  logic m_axi_arready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0] m_axi_wstrb,
  output logic m_axi_wlast,
  output logic m_axi_wvalid,
  input  logic m_axi_wready,
  input  logic [4:0] m_axi_bid,
  input  logic [1:0] m_axi_bresp,
  input  logic m_axi_bvalid,
  output logic m_axi_bready,
  input  logic [4:0] m_axi_rid,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0] m_axi_rresp,
  input  logic m_axi_rlast,
  input  logic m_axi_rvalid,
  output logic m_axi_rready
);

  sub_req_t  sub_req;
  sub_resp_t sub_resp;
  mgr_req_t  mgr_req;
  mgr_resp_t mgr_resp;

  assign sub_req.aw = '{id: s_axi_awid, addr: s_axi_awaddr, len: s_axi_awlen, size: s_axi_awsize,
                        burst: s_axi_awburst,
    lock: s_axi_awlock, cache: s_axi_awcache, prot: s_axi_awprot, qos: '0, region: '0, atop: '0,
    user: '0};
  assign sub_req.aw_valid = s_axi_awvalid;
  assign s_axi_awready = sub_resp.aw_ready;
  assign sub_req.ar = '{id: s_axi_arid, addr: s_axi_araddr, len: s_axi_arlen, size: s_axi_arsize,
                        burst: s_axi_arburst,
    lock: s_axi_arlock, cache: s_axi_arcache, prot: s_axi_arprot, qos: '0, region: '0, user: '0};
  assign sub_req.ar_valid = s_axi_arvalid;
  assign s_axi_arready = sub_resp.ar_ready;
  assign sub_req.w = '{data: s_axi_wdata, strb: s_axi_wstrb, last: s_axi_wlast, user: '0};
  assign sub_req.w_valid = s_axi_wvalid;
  assign s_axi_wready = sub_resp.w_ready;
  assign s_axi_bid = sub_resp.b.id;
  assign s_axi_bresp = sub_resp.b.resp;
  assign s_axi_bvalid = sub_resp.b_valid;
  assign sub_req.b_ready = s_axi_bready;
  assign s_axi_rid = sub_resp.r.id;
  assign s_axi_rdata = sub_resp.r.data;
  assign s_axi_rresp = sub_resp.r.resp;
  assign s_axi_rlast = sub_resp.r.last;
  assign s_axi_rvalid = sub_resp.r_valid;
  assign sub_req.r_ready = s_axi_rready;

  assign m_axi_awid = mgr_req.aw.id;
  assign m_axi_awaddr = mgr_req.aw.addr;
  assign m_axi_awlen = mgr_req.aw.len;
  assign m_axi_awsize = mgr_req.aw.size;
  assign m_axi_awburst = mgr_req.aw.burst;
  assign m_axi_awlock = mgr_req.aw.lock;
  assign m_axi_awcache = mgr_req.aw.cache;
  assign m_axi_awprot = mgr_req.aw.prot;
  assign m_axi_awvalid = mgr_req.aw_valid;
  assign mgr_resp.aw_ready = m_axi_awready;
  assign m_axi_arid = mgr_req.ar.id;
  assign m_axi_araddr = mgr_req.ar.addr;
  assign m_axi_arlen = mgr_req.ar.len;
  assign m_axi_arsize = mgr_req.ar.size;
  assign m_axi_arburst = mgr_req.ar.burst;
  assign m_axi_arlock = mgr_req.ar.lock;
  assign m_axi_arcache = mgr_req.ar.cache;
  assign m_axi_arprot = mgr_req.ar.prot;
  assign m_axi_arvalid = mgr_req.ar_valid;
  assign mgr_resp.ar_ready = m_axi_arready;
  assign m_axi_wdata = mgr_req.w.data;
  assign m_axi_wstrb = mgr_req.w.strb;
  assign m_axi_wlast = mgr_req.w.last;
  assign m_axi_wvalid = mgr_req.w_valid;
  assign mgr_resp.w_ready = m_axi_wready;
  assign mgr_resp.b = '{id: m_axi_bid, resp: m_axi_bresp, user: '0};
  assign mgr_resp.b_valid = m_axi_bvalid;
  assign m_axi_bready = mgr_req.b_ready;
  assign mgr_resp.r = '{id: m_axi_rid, data: m_axi_rdata, resp: m_axi_rresp, last: m_axi_rlast,
                        user: '0};
  assign mgr_resp.r_valid = m_axi_rvalid;
  assign m_axi_rready = mgr_req.r_ready;

  logic [NumPrrs-1:0] region_rst_n;
  region_req_t [NumPrrs-1:0] region_req;
  region_rsp_t [NumPrrs-1:0] region_rsp;
  logic cfg_valid, cfg_ready, cfg_error, cfg_abort;
  logic [31:0] cfg_data;

  fabric_top #(
    .NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs), .SorterDepth(SorterDepth),
    .NumSorters(NumSorters)
  ) i_top (
    .clk_i, .rst_ni, .sub_req_i(sub_req), .sub_resp_o(sub_resp), .mgr_req_o(mgr_req),
    .mgr_resp_i(mgr_resp), .irq_manager_o, .irq_vm_o, .region_rst_no(region_rst_n),
    .region_req_o(region_req), .region_rsp_i(region_rsp), .cfg_valid_o(cfg_valid),
    .cfg_data_o(cfg_data), .cfg_ready_i(cfg_ready), .cfg_error_i(cfg_error), .cfg_abort_o(cfg_abort)
  );

  icap i_cfg (
    .clk_i, .rst_ni, .valid_i(cfg_valid), .data_i(cfg_data), .ready_o(cfg_ready),
    .abort_i(cfg_abort), .error_o(cfg_error)
  );

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_region
    region_model #(.RealTasks(RealTasks)) i_region (
      .clk_i, .rst_ni, .held_i(i_cfg.held_q[p]), .torn_i(i_cfg.torn_q[p]), .seed_i(32'(p)),
      .region_rst_ni(region_rst_n[p]), .req_i(region_req[p]), .rsp_o(region_rsp[p])
    );
  end

  function automatic logic drives(input region_rsp_t rsp);
    return rsp.stopped || rsp.over || rsp.in_ready || rsp.out_valid || rsp.ctx_ready
        || rsp.ctx_valid;
  endfunction

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_taps
    assign events_o[p] = {i_top.connect[p], i_top.stop_cmd[p], cfg_fail_tap[p], cfg_done_tap[p],
                          i_top.fault_why[p], i_top.fault[p], i_top.gen_prr[p].i_slot.job_quiet,
                          i_top.saved[p], i_top.gen_prr[p].i_slot.job_stopped, i_top.over[p],
                          i_top.restored[p], i_top.gen_prr[p].i_slot.job_restore,
                          i_top.gen_prr[p].i_slot.job_begin};
    assign seen_o[p] = {i_top.target[p], i_top.connected[p], i_top.gen_prr[p].held,
                        i_top.gen_prr[p].next, i_top.gen_prr[p].next_valid, i_top.client[p],
                        i_top.client_valid[p], i_top.state[p]};
    assign quiet_o[p] = i_top.quiet[p];
    assign region_out_o[p] = drives(region_rsp[p]);
    assign gated_out_o[p] = drives(i_top.gen_prr[p].i_slot.rsp);
    assign ctx_saving_o[p] = i_top.gen_prr[p].i_slot.i_run.i_ctx.state_q inside {3'd1, 3'd2, 3'd3};
    assign ctx_restoring_o[p] = i_top.gen_prr[p].i_slot.i_run.i_ctx.state_q inside {3'd4, 3'd5,
            3'd6, 3'd7};
  end
  logic [NumPrrs-1:0] cfg_done_tap, cfg_fail_tap;
  assign cfg_done_tap = i_top.cfg_done;
  assign cfg_fail_tap = i_top.cfg_fail;
  assign commands_o = {i_top.icap_prr_now, i_top.icap_busy, i_top.found_pop, i_top.connect_dev,
                       i_top.connect_vm, i_top.connect_on, i_top.cancel_dev, i_top.cancel_vm,
                       i_top.cancel_cmd, i_top.request_client, i_top.request};
  assign monitor_o = {i_top.first_solution, i_top.found_valid, 9'(i_top.waiting), i_top.answer,
                      i_top.answered};
  assign coupled_o = i_top.coupled;
  assign released_o = i_top.rst_n;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cfg_words_o <= '0;
    else if (cfg_valid && cfg_ready) cfg_words_o <= cfg_words_o + 1'b1;
  end
  assign cfg_valid_o = cfg_valid;
  assign cfg_ready_o = cfg_ready;

endmodule
