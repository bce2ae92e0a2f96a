// SPDX-License-Identifier: Apache-2.0
// HW task: 64-QAM. Input: bits; output: two symbols a beat (qam_mapper). No command, no result.
module hwtask_qam64
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low: region_rst_no of the region. No job after it, and all valid and
  /// ready signals, stopped and over are low.
  input  logic        rst_ni,
  /// Contract of region_pkg; only size is used of the IF's registers.
  /// Three input beats make 16 output beats and are taken every 16 cycles on average, if the output
  /// never waits: 3 bytes of input make 16 bytes of output.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  qam_mapper #(.BitsPerSymbol(6)) i_mapper (.*);

endmodule
