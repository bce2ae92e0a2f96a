// SPDX-License-Identifier: Apache-2.0
// What core-h/soc_core.sv needs of a CVA6 with H: the members of its configuration that we set, and
// its ports. For lint without a checkout.
package config_pkg;
  localparam int unsigned NrMaxRules = 16;
  typedef struct packed {
    int unsigned AxiUserWidth;
    bit RVZiCond;
    bit CvxifEn;
    int unsigned NrNonIdempotentRules;
    logic [NrMaxRules-1:0][63:0] NonIdempotentAddrBase;
    logic [NrMaxRules-1:0][63:0] NonIdempotentLength;
    int unsigned NrExecuteRegionRules;
    logic [NrMaxRules-1:0][63:0] ExecuteRegionAddrBase;
    logic [NrMaxRules-1:0][63:0] ExecuteRegionLength;
    int unsigned NrCachedRegionRules;
    logic [NrMaxRules-1:0][63:0] CachedRegionAddrBase;
    logic [NrMaxRules-1:0][63:0] CachedRegionLength;
  } cva6_user_cfg_t;
  typedef struct packed {
    int unsigned XLEN;
    int unsigned VLEN;
    int unsigned AxiUserWidth;
    cva6_user_cfg_t user;
  } cva6_cfg_t;
endpackage

package cva6_config_pkg;
  localparam config_pkg::cva6_user_cfg_t cva6_cfg = '{AxiUserWidth: 64, default: '0};
endpackage

package build_config_pkg;
  function automatic config_pkg::cva6_cfg_t build_config(config_pkg::cva6_user_cfg_t user);
    return '{XLEN: 64, VLEN: 64, AxiUserWidth: user.AxiUserWidth, user: user};
  endfunction
endpackage

module cva6 #(
  parameter config_pkg::cva6_cfg_t CVA6Cfg =
      build_config_pkg::build_config(cva6_config_pkg::cva6_cfg),
  parameter type axi_ar_chan_t = logic,
  parameter type axi_aw_chan_t = logic,
  parameter type axi_w_chan_t = logic,
  parameter type b_chan_t = logic,
  parameter type r_chan_t = logic,
  parameter type noc_req_t = logic,
  parameter type noc_resp_t = logic
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic [CVA6Cfg.VLEN-1:0] boot_addr_i,
  input  logic [CVA6Cfg.XLEN-1:0] hart_id_i,
  input  logic [1:0] irq_i,
  input  logic ipi_i,
  input  logic time_irq_i,
  input  logic debug_req_i,
  output logic rvfi_probes_o,
  output logic cvxif_req_o,
  input  logic cvxif_resp_i,
  output noc_req_t noc_req_o,
  input  noc_resp_t noc_resp_i
);
  axi_ar_chan_t ar;
  axi_aw_chan_t aw;
  axi_w_chan_t w;
  b_chan_t b;
  r_chan_t r;
  always_comb begin
    ar        = '0;
    aw        = '0;
    w         = '0;
    b         = noc_resp_i.b;
    r         = noc_resp_i.r;
    noc_req_o = '{aw: aw, w: w, ar: ar, default: '0};
  end
  assign rvfi_probes_o = 1'b0;
  assign cvxif_req_o   = 1'b0;
  logic unused;
  assign unused = &{1'b0, clk_i, rst_ni, boot_addr_i, hart_id_i, irq_i, ipi_i, time_irq_i,
                    debug_req_i, cvxif_resp_i, noc_resp_i, b, r, CVA6Cfg};
endmodule
