// SPDX-License-Identifier: Apache-2.0
// The AXI4 subordinate of the shared devices: decodes their 2 MiB into the manager page, the DMA
// windows and the VMs' pages. All answer in the cycle after the access. It owns the decision which
// VM and device an access concerns; an address that selects nothing is answered with SLVERR, and so
// are atomics and WRAP bursts.
module io_bus
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import fabric_map_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no access is in progress after it.
  input  logic       rst_ni,
  /// AXI4 subordinate: one transaction at a time, a beat each cycle (fabric_axi_port).
  input  sub_req_t   axi_req_i,
  output sub_resp_t  axi_resp_o,
  /// Byte strobes; 0: a read.
  output logic [7:0] write_o,
  /// Write data, valid with every select. The selects are pulses, combinational from the bus.
  output word_t      data_o,
  /// Offset in the manager page, or in the windows.
  output logic [10:0] offset_o,
  /// Selects the manager page; its data and error are valid in the same cycle.
  output logic       regs_o,
  input  word_t      regs_data_i,
  input  logic       regs_error_i,
  /// Selects the windows, which read as 0.
  output logic       windows_o,
  /// An access to a VM's page; data, 0 if no page was read, and error are valid in the next cycle.
  output io_access_t page_o,
  input  word_t      page_data_i,
  input  logic       page_error_i
);

  localparam int unsigned AddrBits = $clog2(SharedSize);

  sub_req_t plain_req;
  sub_resp_t plain_resp;
  logic access, is_regs, is_windows, is_page, error_q;
  logic [AddrBits-1:0] addr;
  word_t regs_q;

  axi_atop_filter #(
    .AxiIdWidth(SubIdWidth), .AxiMaxWriteTxns(2), .req_t(sub_req_t), .resp_t(sub_resp_t)
  ) i_no_atomics (
    .clk_i, .rst_ni, .slv_req_i(axi_req_i), .slv_resp_o(axi_resp_o), .mst_req_o(plain_req),
    .mst_resp_i(plain_resp)
  );

  fabric_axi_port #(.AddrBits(AddrBits)) i_port (
    .clk_i, .rst_ni, .req_i(plain_req), .resp_o(plain_resp), .access_o(access), .write_o,
    .addr_o(addr), .data_o, .data_i(regs_q | page_data_i), .error_i(error_q || page_error_i)
  );

  // The addresses are those of fabric_map_pkg, written as bit patterns; checked below.
  // Pages of VMs that do not exist are unmapped; devices that do not exist are refused by io_top.
  assign is_page    = addr[20] && 32'(addr[19:16]) < NumVms;
  assign is_windows = addr[20:11] == 10'd2 && 32'(addr[10:7]) < NumVms;
  assign is_regs    = addr[20:11] == '0;

  assign offset_o  = addr[10:0];
  assign regs_o    = access && is_regs;
  assign windows_o = access && is_windows;
  assign page_o    = '{valid: access && is_page, vm: addr[19:16], device: addr[15:12],
                       word: addr[11:3], low: addr[2:0], write: write_o, data: data_o};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_q <= 1'b0;
      regs_q  <= '0;
    end else begin
      error_q <= access && !is_page && !is_windows && !(is_regs && !regs_error_i);
      // 0 unless the manager page was read, because the sources of read data are ORed.
      regs_q  <= regs_o ? regs_data_i : '0;
    end
  end

  if (SharedSize != 'h200000 || SharedPages - Shared != 'h100000 || SharedPageStride != 'h1000
      || SharedWindows - Shared != 'h1000 || VmWindowsStride != 'h80 || WindowStride != 'h20
          || SharedSpan > 'h800)
      begin : gen_check
    $error("the register map has changed: update the address decoder");
  end

endmodule
