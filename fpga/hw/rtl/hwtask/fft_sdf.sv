// SPDX-License-Identifier: Apache-2.0
// A radix-2 butterfly on samples of one lane that are Delay apart, with the delay line in a loop
// (single-path delay feedback): in one half of each period it fills the line and outputs the
// previous differences, in the other half it outputs sums. The latency is Delay + 1 steps. With the
// parameter Turn, differences in the second half of their period are multiplied by -j, which is
// half of the twiddle factors between the two butterflies of a radix-2^2 pair.
module fft_sdf
  import fft_pkg::*;
#(
  /// Distance of the two samples, a power of two; multiply by -j; bits of index_i.
  parameter int unsigned Delay      = 1,
  parameter bit          Turn       = 0,
  parameter int unsigned IndexWidth = 8
) (
  input  logic                  clk_i,
  /// All registers advance in this cycle; no reset, because fft_core knows which samples are real.
  input  logic                  step_i,
  /// Index of the input sample.
  input  logic [IndexWidth-1:0] index_i,
  /// The command's bit of this stage; stable during a job.
  input  logic                  halve_i,
  input  sample_t               sample_i,
  output sample_t               sample_o,
  /// This step saturates a value.
  output logic                  over_o
);

  localparam int unsigned Bit = $clog2(Delay);
  localparam int unsigned AddressWidth = Delay > 1 ? Bit : 1;

  sample_t line_q[Delay];
  sample_t old, into, turned, out_q;
  limited_t sum_re, sum_im, diff_re, diff_im, negated;
  logic [AddressWidth-1:0] address;
  logic adding, turning;

  assign address = Delay > 1 ? AddressWidth'(index_i) : '0;
  assign old     = line_q[address];
  assign adding  = index_i[Bit];

  assign sum_re  = narrow(17'(old.re) + 17'(sample_i.re), halve_i);
  assign sum_im  = narrow(17'(old.im) + 17'(sample_i.im), halve_i);
  assign diff_re = narrow(17'(old.re) - 17'(sample_i.re), halve_i);
  assign diff_im = narrow(17'(old.im) - 17'(sample_i.im), halve_i);

  // A difference that leaves has the index index_i - Delay: bit `Bit` of index_i is then 0, and the
  // lower bits are unchanged.
  if (Turn && Delay > 1) begin : gen_turn
    assign turning = !adding && index_i[Bit-1];
  end else begin : gen_straight
    assign turning = 1'b0;
  end
  assign negated = limit(-36'(old.re));
  assign turned  = turning ? '{re: old.im, im: negated.value} : old;

  assign into   = adding ? '{re: diff_re.value, im: diff_im.value} : sample_i;
  assign over_o = adding ? sum_re.over || sum_im.over || diff_re.over || diff_im.over : 1'b0;

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      line_q[address] <= into;
      out_q           <= adding ? '{re: sum_re.value, im: sum_im.value} : turned;
    end
  end

  assign sample_o = out_q;

  // Saturating -(-32768) is an error of 1 / 65536 of full scale and is not recorded.
  logic unused;
  assign unused = ^{negated.over, index_i};

endmodule
