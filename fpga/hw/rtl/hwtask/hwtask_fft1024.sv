// SPDX-License-Identifier: Apache-2.0
// HW task: FFT of 1024 points (fft_core). Input: samples, two a beat, in natural order; output:
// bins in bit-reversed order.
module hwtask_fft1024
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low: region_rst_no of the region. No job after it, and all valid and
  /// ready signals, stopped and over are low. Samples in the delay lines are not reset.
  input  logic        rst_ni,
  /// Contract of region_pkg; command and result of fft_core.
  /// The output is 4 KiB, 512 beats, for each block of input, also for a last one that is not full.
  /// Up to one beat a cycle in each direction; the first output follows 512 steps and the latency
  /// of fft_core's pipeline after the first input.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  fft_core #(.Points(1024)) i_core (.*);

endmodule
