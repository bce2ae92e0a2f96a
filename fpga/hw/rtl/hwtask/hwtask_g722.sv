// SPDX-License-Identifier: Apache-2.0
// HW task: the audio codec of ITU-T G.722, mode 1 (64 kbit/s), adaptive differential PCM in two
// bands.
//
// Command: 0 encode 16-bit samples of 16 kHz (two for each octet), 1 decode. Octets and samples are
// packed in memory, lowest byte first. Result: 0 done, 1 odd number of samples, 2 unknown command;
// with results 1 and 2 the task consumes and produces nothing.
//
// One multiplier serves all blocks of the recommendation, one step a cycle: some 80 cycles an
// octet. There is a consistency point after each octet; the context includes the unused bytes of
// the input beat and the bytes of the incomplete output beat.
module hwtask_g722
  import g722_pkg::*;
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; no job after it. What lives within one octet is not reset: SFetch
  /// starts each octet.
  input  logic        rst_ni,
  /// Contract of region_pkg; custom is not used. The output of an encoder has a quarter of the
  /// bytes of the input, that of a decoder four times as many; its last beat may be partly filled,
  /// with zeros.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  logic in_ready, out_valid, out_last;
  logic [31:0] result;
  fabric_pkg::word_t out_data;
  localparam int unsigned Words = hwtask_pkg::G722CtxWords;
  // Bits of the last context word that are not used.
  localparam int unsigned Spare = 64 * Words - $bits(codec_t);

  // Encode: SFetch, SQmf, SSplit; lower band: SQuantLow, SLevel; higher band: SQuantHigh; SEmit.
  // Decode: SFetch, SSum; after both bands SMerge, SQmf, SEmit. Each band's adaptation: SInverse to
  // SPredict. SGive: a beat leaves.
  typedef enum logic [4:0] {
    SFetch, SGive, SQmf, SSplit, SMerge, SQuantLow, SQuantHigh, SLevel, SInverse, SLog, SScale,
    SSum, SZeros, SPoles, SPolesEnd, SFilterZ, SFilterP, SPredict, SEmit
  } state_e;

  logic begin_job, resume, run, pause, done, ctx_write;
  logic [4:0] ctx_index;
  logic [63:0] ctx_word;
  codec_t codec_q, codec_d;

  hwtask_port #(.Words(Words)) i_port (
    .clk_i, .rst_ni, .req_i, .rsp_o, .result_i(result), .in_ready_i(in_ready),
    .out_data_i(out_data), .out_valid_i(out_valid), .out_last_i(out_last), .begin_o(begin_job),
    .resume_o(resume), .run_o(run), .pause_i(pause), .done_i(done), .ctx_i((64 * Words)'(codec_q)),
    .ctx_write_o(ctx_write), .ctx_index_o(ctx_index), .ctx_word_o(ctx_word)
  );

  // ---- Command ----
  logic decodes, unknown, ragged;
  assign decodes = req_i.cmd[0];
  assign unknown = req_i.cmd > 32'd1;
  assign ragged  = !decodes && req_i.size[1:0] != '0;
  assign result  = unknown ? 32'd2 : ragged ? 32'd1 : 32'd0;

  // ---- State within one octet ----
  state_e state_q, state_d;
  logic high_q, high_d;             // the current band
  logic [3:0] i_q, i_d;             // loop index; in the filter bit 0 selects the half
  logic [3:0] qmf_q, qmf_d;         // the filter's tap
  logic [5:0] code_low_q, code_low_d;
  logic [1:0] code_high_q, code_high_d;
  word_t low_q, low_d, upper_q, upper_d;  // the sub-band signals
  // Of the present sample: quantized difference, reconstructed signal, partially reconstructed
  // signal; and a running sum.
  word_t d_q, d_d, r_q, r_d, p_q, p_d, t_q, t_d;
  // Sums of the two halves of the quadrature mirror filter.
  logic signed [31:0] even_q, even_d, odd_q, odd_d;
  // Binary search in QUANTL: the level is least_q .. most_q.
  logic [4:0] least_q, least_d, most_q, most_d, middle;
  logic signed [15:0] magnitude_q, magnitude_d;
  logic negative_q, negative_d;

  band_t band;
  assign band   = codec_q.bands[high_q];
  assign middle = 5'((6'(least_q) + 6'(most_q)) >> 1);

  // ---- The multiplier ----
  word_t left, right;
  logic signed [31:0] product, scaled;
  assign product = left * right;
  assign scaled  = product >>> 15;

  function automatic word_t twice(input word_t value);
    return limit16(32'(value) <<< 1);
  endfunction

  always_comb begin
    // One pair of operands a state; where the state needs no product the result is not used.
    left  = signed'(band.det);
    right = '0;
    case (state_q)
      SQmf: begin
        // H0, H2, ... with the newest value first for one half, with the oldest first for the other
        left  = signed'(i_q[0] ? codec_q.lines[0][4'd11-qmf_q] : codec_q.lines[1][qmf_q]);
        right = tap(qmf_q);
      end
      SLevel:     right = q6(middle);
      SQuantHigh: right = Q2;
      SInverse:   right = high_q ? qm2(code_high_q) : qm4(code_low_q[5:2]);
      SSum:       right = qm6(code_low_q);
      SFilterZ: begin
        left  = twice(signed'(band.d[i_q[2:0]]));
        right = signed'(band.b[i_q[2:0]]);
      end
      SFilterP: begin
        left  = twice(i_q[0] ? signed'(band.r) : r_q);
        right = signed'(i_q[0] ? band.a[1] : band.a[0]);
      end
      default: ;
    endcase
  end

  // ---- Difference to the prediction ----
  word_t difference, magnitude;
  assign difference = limit16(32'(high_q ? upper_q : low_q) - 32'(signed'(band.s)));
  // Of a negative difference the one's complement, as QUANTL and QUANTH define it.
  assign magnitude  = difference < 0 ? ~difference : difference;

  // ---- UPPOL2, UPPOL1: the pole section, limited to the stable range ----
  function automatic logic signed [31:0] with_sign(input logic signed [31:0] value,
                                                   input logic negative);
    return negative ? -value : value;
  endfunction

  logic signed [31:0] push, second, first, bound;
  logic flip_0, flip_1;
  assign flip_0 = p_q[15] ^ band.p[0][15];
  assign flip_1 = p_q[15] ^ band.p[1][15];
  assign push   = with_sign(32'(limit16(32'(signed'(band.a[0])) <<< 2)), flip_0);
  assign second = (32'(limit16(-push)) >>> 7) + with_sign(128, flip_1) + leak(signed'(band.a[1]),
          7);
  assign first  = with_sign(192, flip_0) + leak(signed'(band.a[0]), 8);
  assign bound  = 32'sd15360 - 32'(t_q);

  // ---- Streams ----
  logic take, give, ending;
  logic [3:0] used;
  // Bytes of input for an octet: one code, or two samples.
  assign used      = decodes ? 4'd1 : 4'd4;
  // A beat is taken when the bytes of the last one are used up; a stop precedes it.
  assign in_ready  = run && state_q == SFetch && !unknown && !ragged && codec_q.bytes_left != '0 &&
                       codec_q.in_count == '0 && !req_i.stop;
  assign take      = in_ready && req_i.in_valid;
  assign out_valid = run && state_q == SGive;
  assign give      = out_valid && req_i.out_ready;
  assign ending    = codec_q.bytes_left == '0;
  assign out_last  = out_valid && ending;
  assign out_data  = codec_q.out;
  assign pause     = req_i.stop && state_q == SFetch;
  assign done      = unknown || ragged || (state_q == SFetch && ending);

  // ---- Next step ----
  always_comb begin
    state_d     = state_q;
    codec_d     = codec_q;
    high_d      = high_q;
    i_d         = i_q;
    qmf_d       = qmf_q;
    code_low_d  = code_low_q;
    code_high_d = code_high_q;
    low_d       = low_q;
    upper_d     = upper_q;
    d_d         = d_q;
    r_d         = r_q;
    p_d         = p_q;
    t_d         = t_q;
    even_d      = even_q;
    odd_d       = odd_q;
    least_d     = least_q;
    most_d      = most_q;
    magnitude_d = magnitude_q;
    negative_d  = negative_q;

    case (state_q)
      SFetch: begin
        high_d = 1'b0;
        i_d    = '0;
        qmf_d  = '0;
        even_d = '0;
        odd_d  = '0;
        if (take) begin
          codec_d.data     = req_i.in_data;
          codec_d.in_count = 4'd8;
        end else if (!ending && !req_i.stop && codec_q.in_count != '0) begin
          codec_d.data       = decodes ? codec_q.data >> 8 : codec_q.data >> 32;
          codec_d.in_count   = codec_q.in_count - used;
          codec_d.bytes_left = codec_q.bytes_left - 32'(used);
          code_low_d         = codec_q.data[5:0];
          code_high_d        = codec_q.data[7:6];
          if (decodes) state_d = SSum;
          else begin
            state_d          = SQmf;
            codec_d.lines[0] = {codec_q.lines[0][10:0], codec_q.data[15:0]};
            codec_d.lines[1] = {codec_q.lines[1][10:0], codec_q.data[31:16]};
          end
        end
      end

      // Clause 5.2: twelve products for each half
      SQmf: begin
        if (i_q[0]) odd_d = odd_q + product;
        else even_d = even_q + product;
        i_d[0] = !i_q[0];
        if (i_q[0]) qmf_d = qmf_q + 4'd1;
        if (i_q[0] && qmf_q == 4'd11) state_d = decodes ? SEmit : SSplit;
      end
      SSplit: begin
        low_d   = limit15((even_q + odd_q) >>> 14);
        upper_d = limit15((even_q - odd_q) >>> 14);
        state_d = SQuantLow;
      end

      // QUANTL: binary search for the first of 30 levels that is above the magnitude
      SQuantLow: begin
        negative_d  = difference < 0;
        magnitude_d = magnitude;
        least_d     = 5'd1;
        most_d      = 5'd30;
        state_d     = SLevel;
      end
      SLevel:
      if (least_q == most_q) begin
        code_low_d = code_of(negative_q, least_q);
        state_d    = SInverse;
      end else if (32'(magnitude_q) >= product >>> 12) least_d = middle + 5'd1;
      else most_d = middle;

      // QUANTH, which needs no search
      SQuantHigh: begin
        code_high_d[1] = difference >= 0;
        code_high_d[0] = 32'(magnitude) < product >>> 12;
        state_d        = SInverse;
      end

      // The decoder's INVQBL, RECONS and LIMIT of the lower band, whose output has six-bit
      // precision
      SSum: begin
        low_d   = limit15(32'(limit16(32'(signed'(band.s)) + scaled)));
        state_d = SInverse;
      end

      // INVQAL, INVQAH; the decoder's output of the higher band is this difference
      SInverse: begin
        d_d = scaled[15:0];
        if (decodes && high_q) upper_d = limit15(32'(limit16(32'(signed'(band.s)) + scaled)));
        state_d = SLog;
      end
      // LOGSCL, LOGSCH; with them RECONS, PARREC
      SLog: begin
        codec_d.bands[high_q].nb = limit(leak(signed'(band.nb), 7) + 32'(high_q ? wh(code_high_q[0])
                : wl(code_low_q[5:2])),
                                         0, high_q ? 22528 : 18432);
        r_d     = limit16(32'(signed'(band.s)) + 32'(d_q));
        p_d     = limit16(32'(signed'(band.sz)) + 32'(d_q));
        state_d = SScale;
      end
      SScale: begin
        codec_d.bands[high_q].det = scale(band.nb[14:11], band.nb[10:6], high_q);
        i_d     = '0;
        state_d = SZeros;
      end
      // UPZERO: a sign algorithm with leak
      SZeros: begin
        codec_d.bands[high_q].b[i_q[2:0]] = limit16(
          leak(signed'(band.b[i_q[2:0]]), 8) +
          (d_q == 0 ? 32'sd0 : with_sign(128, d_q[15] ^ band.d[i_q[2:0]][15])));
        i_d = i_q + 4'd1;
        if (i_q == 4'd5) state_d = SPoles;
      end
      SPoles: begin
        t_d     = limit(second, -12288, 12288);
        state_d = SPolesEnd;
      end
      SPolesEnd: begin
        codec_d.bands[high_q].a = {t_q, limit(first, -bound, bound)};
        codec_d.bands[high_q].p = {band.p[0], p_q};
        codec_d.bands[high_q].d = {band.d[4:0], d_q};
        i_d     = 4'd5;
        t_d     = '0;
        state_d = SFilterZ;
      end
      // FILTEZ: the oldest first, each sum saturated
      SFilterZ: begin
        t_d = limit16(32'(t_q) + scaled);
        i_d = i_q - 4'd1;
        if (i_q == '0) begin
          codec_d.bands[high_q].sz = limit16(32'(t_q) + scaled);
          i_d     = '0;
          t_d     = '0;
          state_d = SFilterP;
        end
      end
      // FILTEP, PREDIC
      SFilterP: begin
        t_d = limit16(32'(t_q) + scaled);
        i_d = i_q + 4'd1;
        if (i_q[0]) state_d = SPredict;
      end
      SPredict: begin
        codec_d.bands[high_q].r = r_q;
        codec_d.bands[high_q].s = limit16(32'(t_q) + 32'(signed'(band.sz)));
        high_d = 1'b1;
        if (!high_q) state_d = decodes ? SInverse : SQuantHigh;
        else state_d = decodes ? SMerge : SEmit;
      end

      // Clause 5.2.2
      SMerge: begin
        codec_d.lines[0] = {codec_q.lines[0][10:0], low_q + upper_q};
        codec_d.lines[1] = {codec_q.lines[1][10:0], low_q - upper_q};
        i_d     = '0;
        state_d = SQmf;
      end

      SEmit: begin
        if (decodes) begin
          codec_d.out       = codec_q.out | (64'({limit16(odd_q >>> 11), limit16(even_q >>> 11)})
                                             << {codec_q.out_count, 3'b0});
          codec_d.out_count = codec_q.out_count + 4'd4;
        end else begin
          codec_d.out       = codec_q.out | (64'({code_high_q, code_low_q}) << {codec_q.out_count,
                  3'b0});
          codec_d.out_count = codec_q.out_count + 4'd1;
        end
        state_d = codec_d.out_count == 4'd8 || ending ? SGive : SFetch;
      end
      SGive:
      if (give) begin
        codec_d.out       = '0;
        codec_d.out_count = '0;
        state_d           = SFetch;
      end
      default: state_d = SFetch;
    endcase
  end

  // ---- Registers ----
  logic [Words-1:0][63:0] restored;
  always_comb begin
    // One word of the context is replaced at a time.
    restored            = (64 * Words)'(codec_q);
    restored[ctx_index] = ctx_word;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= SFetch;
      codec_q <= '0;
    end else if (begin_job || resume) begin
      state_q <= SFetch;
      if (begin_job)
        codec_q <= '{bytes_left: req_i.size, bands: {BandReset1, BandReset0}, default: '0};
    end else if (ctx_write) codec_q <= codec_t'(restored);
    else if (run) begin
      state_q <= state_d;
      codec_q <= codec_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (run) begin
      high_q      <= high_d;
      i_q         <= i_d;
      qmf_q       <= qmf_d;
      code_low_q  <= code_low_d;
      code_high_q <= code_high_d;
      low_q       <= low_d;
      upper_q     <= upper_d;
      d_q         <= d_d;
      r_q         <= r_d;
      p_q         <= p_d;
      t_q         <= t_d;
      even_q      <= even_d;
      odd_q       <= odd_d;
      least_q     <= least_d;
      most_q      <= most_d;
      magnitude_q <= magnitude_d;
      negative_q  <= negative_d;
    end
  end

  logic unused;
  assign unused = ^{req_i, restored[Words-1][63-:Spare]};

endmodule
