// SPDX-License-Identifier: Apache-2.0
// The fabric as a device of an emulated machine (docs/fabric.md): fabric_top, the model of the
// ICAP, and three parts whose other half is C++ (model.cc): the register port, the
// memory, and the regions. No combinational path leads from an input of this module to a register
// of the fabric, so that one evaluation for each clock edge is sufficient.
module fabric_cosim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 6,
  parameter int unsigned NumPrrs = 3,
  parameter int unsigned SorterDepth = 16,
  parameter int unsigned NumSorters = 2,
  /// 1: every HW task is a Verilated class of its own. 0: the tasks are part of this one.
  parameter bit Split = 1'b1
) (
  input  logic clk_i,
  /// Asynchronous, active low.
  input  logic rst_ni,
  /// Pulse: an access to the register port; the members are stable until access_done_o.
  input  logic access_i,
  input  logic access_write_i,
  input  logic [63:0] access_addr_i,
  /// log2 of the bytes.
  input  logic [1:0] access_size_i,
  input  logic [63:0] access_data_i,
  /// Pulse: the access has its answer.
  output logic access_done_o,
  output logic [1:0] access_resp_o,
  output logic [63:0] access_data_o,
  /// Levels, as of fabric_top.
  output logic irq_manager_o,
  output logic [NumVms-1:0] irq_vm_o,
  /// Something may change although no register is accessed.
  output logic active_o,
  /// Each region: state [2:0], has a client [3], VM [7:4], device [11:8], task that it holds
  /// [19:12].
  output logic [31:0] region_o [NumPrrs],
  /// The ICAP: busy [0], its region [3:1].
  output logic [3:0] config_o,
  /// Violations of the AXI protocol by the fabric since reset.
  output logic [31:0] complaints_o,
  /// The memory port in this cycle, for comparisons: {AR, AW, W valid}, address, data.
  output logic [2:0] bus_valid_o,
  output logic [63:0] bus_addr_o,
  output logic [63:0] bus_data_o
);

  sub_req_t  sub_req;
  sub_resp_t sub_resp;
  mgr_req_t  mgr_req;
  mgr_resp_t mgr_resp;
  logic [NumPrrs-1:0] region_rst_n, region_active;
  region_req_t [NumPrrs-1:0] region_req;
  region_rsp_t [NumPrrs-1:0] region_rsp;
  logic cfg_valid, cfg_ready, cfg_error, cfg_abort;
  logic [31:0] cfg_data;

  fabric_top #(
    .NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs), .SorterDepth(SorterDepth),
    .NumSorters(NumSorters)
  ) i_top (
    .clk_i,
    .rst_ni,
    .sub_req_i(sub_req),
    .sub_resp_o(sub_resp),
    .mgr_req_o(mgr_req),
    .mgr_resp_i(mgr_resp),
    .irq_manager_o,
    .irq_vm_o,
    .region_rst_no(region_rst_n),
    .region_req_o(region_req),
    .region_rsp_i(region_rsp),
    .cfg_valid_o(cfg_valid),
    .cfg_data_o(cfg_data),
    .cfg_ready_i(cfg_ready),
    .cfg_error_i(cfg_error),
    .cfg_abort_o(cfg_abort)
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

  cosim_register_port i_port (
    .clk_i,
    .rst_ni,
    .start_i(access_i),
    .write_i(access_write_i),
    .addr_i(access_addr_i),
    .size_i(access_size_i),
    .data_i(access_data_i),
    .done_o(access_done_o),
    .resp_o(access_resp_o),
    .data_o(access_data_o),
    .req_o(sub_req),
    .resp_i(sub_resp)
  );

  cosim_memory i_memory (
    .clk_i,
    .rst_ni,
    .latency_i('0),
    .req_i(mgr_req),
    .resp_o(mgr_resp)
  );

  cosim_axi_check i_check (
    .clk_i,
    .rst_ni,
    .req_i(mgr_req),
    .resp_i(mgr_resp),
    .complaints_o
  );

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_region
    logic runs;
    assign runs = i_top.state[p] inside {StBusy, StPreempt, StSwitch};
    if (Split) begin : gen_split
      cosim_region #(.Region(p)) i_region (
        .clk_i,
        .rst_ni,
        .held_i(i_cfg.held_q[p]),
        .torn_i(i_cfg.torn_q[p]),
        .runs_i(runs),
        .region_rst_ni(region_rst_n[p]),
        .req_i(region_req[p]),
        .rsp_o(region_rsp[p])
      );
    end else begin : gen_whole
      region_model #(.RealTasks(1'b1)) i_region (
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
    // HOLD_TIME with all bits set means that Hold does not expire within a simulation.
    assign region_active[p] = runs || (i_top.state[p] == StHold && i_top.hold_cycles != '1);
    assign region_o[p] = {12'b0, i_top.gen_prr[p].held, i_top.client[p].dev, i_top.client[p].vm,
                          i_top.client_valid[p], i_top.state[p]};
  end

  assign config_o = {i_top.icap_prr_now, i_top.icap_busy};
  assign active_o = i_top.icap_busy || |region_active || mgr_req.aw_valid || mgr_req.w_valid
                    || mgr_req.ar_valid || mgr_resp.r_valid || mgr_resp.b_valid;
  assign bus_valid_o = {mgr_req.ar_valid, mgr_req.aw_valid, mgr_req.w_valid};
  assign bus_addr_o  = mgr_req.ar_valid ? mgr_req.ar.addr : mgr_req.aw_valid ? mgr_req.aw.addr : '0;
  assign bus_data_o  = mgr_req.w_valid ? mgr_req.w.data : '0;

endmodule
