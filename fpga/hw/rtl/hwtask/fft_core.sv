// SPDX-License-Identifier: Apache-2.0
// FFT of blocks of Points samples (512 or 1024), two samples a cycle: decimation in frequency,
// radix 2^2, single-path delay feedback in two lanes, one for even and one for odd positions; the
// last butterfly combines the lanes.
//
// A beat is {im1, re1, im0, re0}. Input is in natural order; position p of the output is bin
// bitreverse(p), and the first output beat leaves as soon as the last input sample has arrived. No
// block is buffered for reordering, which keeps the wait for a consistency point short. Command:
// bit s halves after stage s (0 .. 8 or 9). All ones divides by Points, and then only a rotation
// can saturate; every second bit divides by about the square root of Points. Result: bit 0 is set
// when a value was saturated. A partial last block is padded with zeros. fft_pkg defines the
// arithmetic.
//
// Consistency points are between blocks. To reach one, the core keeps stepping without new input
// until every output beat has left.
module fft_core
  import fft_pkg::*;
  import region_pkg::*;
#(
  /// 512 or 1024.
  parameter int unsigned Points = 512
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no job after it. The samples in the pipeline are not reset: real_q
  /// and its like say which blocks hold samples.
  input  logic        rst_ni,
  /// Contract of region_pkg; custom is not used. Up to one beat a cycle in each direction; the
  /// first output follows Points / 2 steps and the pipeline's latency after the first input.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  logic in_ready, out_valid, out_last;
  logic [31:0] result;
  fabric_pkg::word_t out_data;
  localparam int unsigned Stages = $clog2(Points);
  localparam int unsigned Beats = Points / 2;
  localparam int unsigned IndexWidth = $clog2(Beats);
  localparam int unsigned Pairs = 4;
  // 512 points: four pairs, and the stage between the lanes. 1024 points: one more stage before
  // that one.
  localparam bit Extra = Stages == 10;

  // Steps until a sample reaches the input of each part; a butterfly takes its delay + 1, a
  // rotation 3.
  function automatic int unsigned pair_at(input int unsigned pair);
    int unsigned at, quarter;
    at      = 0;
    quarter = Points / 4;
    for (int unsigned i = 0; i < pair; i++) begin
      at      = at + quarter + 1 + quarter / 2 + 1 + 3;
      quarter = quarter / 4;
    end
    return at;
  endfunction
  localparam int unsigned ExtraAt = pair_at(Pairs);
  localparam int unsigned CrossAt = ExtraAt + (Extra ? 2 : 0);

  // bytes_left_q: input bytes that are not consumed; over_q: a value was saturated. They are the
  // context: between blocks nothing else is left.
  logic begin_job, resume, run, pause, done, ctx_write, unused_index;
  logic [63:0] ctx_word;
  logic [31:0] bytes_left_q;
  logic over_q;

  hwtask_port #(.Words(hwtask_pkg::FftCtxWords)) i_port (
    .clk_i, .rst_ni, .req_i, .rsp_o, .result_i(result), .in_ready_i(in_ready),
    .out_data_i(out_data), .out_valid_i(out_valid), .out_last_i(out_last), .begin_o(begin_job),
    .resume_o(resume), .run_o(run), .pause_i(pause), .done_i(done),
    .ctx_i({31'b0, over_q, bytes_left_q}), .ctx_write_o(ctx_write), .ctx_index_o(unused_index),
    .ctx_word_o(ctx_word)
  );

  // ---- Steps: all registers of the pipeline advance together, one beat a step ----
  // real_*: whether the incoming block, the previous one and the one before that hold samples.
  logic [IndexWidth-1:0] index_q;
  logic real_q, real_now, real_1_q, real_2_q;
  logic step, want, take, out_free, out_valid_q, out_last_q, first, last;
  logic [IndexWidth+2:0] inside_q;  // output beats still to come of started blocks

  // The block's first and last beat of input; a stop is obeyed only before the first one.
  assign first    = index_q == '0;
  assign last     = index_q == IndexWidth'(Beats - 1);
  assign real_now = first ? bytes_left_q != '0 && !req_i.stop : real_q;
  assign want     = real_now && bytes_left_q != '0;
  assign out_free = !out_valid_q || req_i.out_ready;
  assign in_ready = run && want && out_free;
  assign take     = in_ready && req_i.in_valid;
  // No step without a place for the output, or while a beat of the block is missing.
  assign step     = run && out_free && (!want || req_i.in_valid);

  // Whether the sample that arrived `age` steps ago belongs to a real block.
  function automatic logic is_real(input int unsigned age, input logic [IndexWidth-1:0] index,
                                   input logic now, input logic previous, input logic oldest);
    if (age < Beats) return 32'(index) >= age ? now : previous;
    return 32'(index) >= age - Beats ? previous : oldest;
  endfunction

  // ---- The pipeline ----
  sample_t [1:0] into, crossed_q;
  sample_t [1:0] at_pair[Pairs+1];
  sample_t [1:0] at_cross;
  logic [1:0] pair_over[Pairs];
  logic [1:0] extra_over;
  logic cross_over;

  // Bytes after the end of the data are zero.
  always_comb begin
    // Beats after the data, which push the last block out, are zero, too.
    into = want ? req_i.in_data : '0;
    for (int unsigned i = 0; i < 8; i++) if (bytes_left_q <= i) into[i/4][8*(i%4)+:8] = '0;
  end
  assign at_pair[0] = into;

  for (genvar p = 0; p < Pairs; p++) begin : gen_pair
    localparam int unsigned Size = Points >> (2 * p);
    localparam int unsigned At = pair_at(p);
    localparam int unsigned AtB = At + Size / 4 + 1;
    localparam int unsigned AtR = AtB + Size / 8 + 1;
    for (genvar l = 0; l < 2; l++) begin : gen_lane
      sample_t between, before_turn;
      logic over_a, over_b, over_r;
      fft_sdf #(.Delay(Size / 4), .Turn(1), .IndexWidth(IndexWidth)) i_a (
        .clk_i, .step_i(step), .index_i(index_q - IndexWidth'(At)), .halve_i(req_i.cmd[2*p]),
        .sample_i(at_pair[p][l]), .sample_o(between), .over_o(over_a)
      );
      fft_sdf #(.Delay(Size / 8), .Turn(0), .IndexWidth(IndexWidth)) i_b (
        .clk_i, .step_i(step), .index_i(index_q - IndexWidth'(AtB)), .halve_i(req_i.cmd[2*p+1]),
        .sample_i(between), .sample_o(before_turn), .over_o(over_b)
      );
      fft_rotate #(.Size(Size), .Lane(l), .IndexWidth(IndexWidth)) i_rotate (
        .clk_i, .step_i(step), .index_i(index_q - IndexWidth'(AtR)), .sample_i(before_turn),
        .sample_o(at_pair[p+1][l]), .over_o(over_r)
      );
      assign pair_over[p][l] = (over_a && is_real(At, index_q, real_now, real_1_q, real_2_q)) ||
                               (over_b && is_real(AtB, index_q, real_now, real_1_q, real_2_q)) ||
                               (over_r && is_real(AtR + 2, index_q, real_now, real_1_q, real_2_q));
    end
  end

  if (Extra) begin : gen_extra
    // Blocks of four: the second butterfly of the pair is the one between the lanes, so the
    // rotation by -j applies to lane 1's difference.
    for (genvar l = 0; l < 2; l++) begin : gen_lane
      sample_t straight;
      logic over;
      fft_sdf #(.Delay(1), .Turn(0), .IndexWidth(IndexWidth)) i_a (
        .clk_i, .step_i(step), .index_i(index_q - IndexWidth'(ExtraAt)), .halve_i(req_i.cmd[8]),
        .sample_i(at_pair[Pairs][l]), .sample_o(straight), .over_o(over)
      );
      if (l == 1) begin : gen_turn
        logic turning;
        limited_t negated;
        logic unused;
        assign turning     = 1'((index_q - IndexWidth'(CrossAt)) & IndexWidth'(1));
        assign negated     = limit(-36'(straight.re));
        assign at_cross[l] = turning ? '{re: straight.im, im: negated.value} : straight;
        assign unused      = negated.over;
      end else begin : gen_straight
        assign at_cross[l] = straight;
      end
      assign extra_over[l] = over && is_real(ExtraAt, index_q, real_now, real_1_q, real_2_q);
    end
  end else begin : gen_no_extra
    assign at_cross   = at_pair[Pairs];
    assign extra_over = '0;
  end

  limited_t sum_re, sum_im, diff_re, diff_im;
  assign sum_re     = narrow(17'(at_cross[0].re) + 17'(at_cross[1].re), req_i.cmd[Stages-1]);
  assign sum_im     = narrow(17'(at_cross[0].im) + 17'(at_cross[1].im), req_i.cmd[Stages-1]);
  assign diff_re    = narrow(17'(at_cross[0].re) - 17'(at_cross[1].re), req_i.cmd[Stages-1]);
  assign diff_im    = narrow(17'(at_cross[0].im) - 17'(at_cross[1].im), req_i.cmd[Stages-1]);
  assign cross_over = (sum_re.over || sum_im.over || diff_re.over || diff_im.over) &&
                      is_real(CrossAt, index_q, real_now, real_1_q, real_2_q);

  always_ff @(posedge clk_i) begin
    if (step) begin
      crossed_q[0] <= '{re: sum_re.value, im: sum_im.value};
      crossed_q[1] <= '{re: diff_re.value, im: diff_im.value};
    end
  end

  logic any_over;
  always_comb begin
    any_over = cross_over || extra_over != '0;
    for (int unsigned p = 0; p < Pairs; p++) if (pair_over[p] != '0) any_over = 1'b1;
  end

  // ---- Job state ----
  logic leaving, ending;
  assign leaving = is_real(CrossAt, index_q, real_now, real_1_q, real_2_q);
  // The last position of a block is leaving, and no further block has started or will start.
  assign ending = index_q == IndexWidth'(CrossAt - Beats - 1) && bytes_left_q == '0 && !real_now
                  && !real_1_q;
  assign pause  = req_i.stop && inside_q == '0;
  assign done   = bytes_left_q == '0 && inside_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q      <= '0;
      real_q       <= 1'b0;
      real_1_q     <= 1'b0;
      real_2_q     <= 1'b0;
      inside_q     <= '0;
      out_valid_q  <= 1'b0;
      out_last_q   <= 1'b0;
      bytes_left_q <= '0;
      over_q       <= 1'b0;
    end else if (begin_job || resume || ctx_write) begin
      index_q  <= '0;
      real_q   <= 1'b0;
      real_1_q <= 1'b0;
      real_2_q <= 1'b0;
      if (begin_job) {over_q, bytes_left_q} <= {1'b0, req_i.size};
      if (ctx_write) {over_q, bytes_left_q} <= ctx_word[32:0];
    end else begin
      if (take) bytes_left_q <= bytes_left_q > 32'd8 ? bytes_left_q - 32'd8 : '0;
      inside_q <= inside_q + (step && first && real_now ? (IndexWidth + 3)'(Beats) : '0) -
                  (IndexWidth + 3)'(out_valid_q && req_i.out_ready);
      if (step) begin
        index_q     <= index_q + IndexWidth'(1);
        real_q      <= real_now;
        out_valid_q <= leaving;
        out_last_q  <= ending;
        over_q      <= over_q || any_over;
        if (last) {real_1_q, real_2_q} <= {real_now, real_1_q};
      end else if (req_i.out_ready) out_valid_q <= 1'b0;
    end
  end

  assign out_valid = out_valid_q;
  assign out_last  = out_valid_q && out_last_q;
  assign out_data  = crossed_q;
  assign result    = 32'(over_q);

  logic unused;
  assign unused = ^{req_i, ctx_word[63:33], unused_index};

endmodule
