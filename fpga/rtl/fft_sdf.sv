// SPDX-License-Identifier: Apache-2.0
// A radix-2 butterfly on samples of one lane that are Delay apart, with the delay line in a loop (single-path delay
// feedback): half of the time it fills the line and gives the differences of before, the other half it gives sums.
// A sample leaves Delay + 1 steps after it came. With Turn, differences in the second half of their turn are multiplied by
// -j, which is half of the twiddle factors that a radix-2^2 pair of butterflies has between its two.
module fft_sdf
  import fft_pkg::*;
#(
  parameter int unsigned Delay      = 1,
  parameter bit          Turn       = 0,
  parameter int unsigned IndexWidth = 8
) (
  input  logic                  clk_i,
  input  logic                  step_i,
  input  logic [IndexWidth-1:0] index_i,  // of the sample at the input
  input  logic                  halve_i,
  input  sample_t               sample_i,
  output sample_t               sample_o,
  output logic                  over_o    // this step limits something
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

  // A difference that leaves has index_i - Delay as its index: bit `Bit` of index_i is 0 then, the bits below are its own.
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

  // -(-32768) is limited, and that is a part in 65536 of full scale: not worth a note.
  logic unused;
  assign unused = ^{negated.over, index_i};

endmodule
