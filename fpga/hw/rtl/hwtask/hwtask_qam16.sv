// SPDX-License-Identifier: Apache-2.0
// HW task: 16-QAM. Input: bits; output: two symbols a beat (qam_mapper). No command, no result.
module hwtask_qam16
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low: region_rst_no of the region. No job after it, and all valid and
  /// ready signals, stopped and over are low.
  input  logic        rst_ni,
  /// Contract of region_pkg; only size is used of the IF's registers.
  /// An input beat makes 8 output beats: the output has 8 times the bytes of the input, and a beat
  /// of input is taken every 8 cycles on average, if the output never waits.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  qam_mapper #(.BitsPerSymbol(4)) i_mapper (.*);

endmodule
