// SPDX-License-Identifier: Apache-2.0
// Tables and functions of ITU-T G.722, mode 1 (64 kbit/s), and the state of the codec, for
// hwtask_g722. Clauses and block names are the recommendation's.
package g722_pkg;

  typedef logic signed [15:0] word_t;

  // The state of a band between two samples (clause 6.2). Index 0 is the newest.
  typedef struct packed {
    logic [15:0]      nb;   // NB: logarithmic scale factor, 11 fractional bits of a power of two
    logic [15:0]      det;  // DET: scale factor of the quantizer
    logic [15:0]      s;    // S: the predictor's estimate of the next sample
    logic [15:0]      sz;   // SZ: the zero section's contribution to it
    logic [15:0]      r;    // RLT: reconstructed signal
    logic [1:0][15:0] p;    // PLT: partially reconstructed signal
    logic [1:0][15:0] a;    // AL: pole section
    logic [5:0][15:0] d;    // DLT: quantized difference
    logic [5:0][15:0] b;    // BL: zero section
  } band_t;

  // The complete state of a codec between two octets: its context.
  typedef struct packed {
    logic [3:0]             out_count;   // bytes in `out`
    logic [3:0]             in_count;    // bytes in `data`
    logic [31:0]            bytes_left;  // input bytes not yet coded into an octet
    logic [63:0]            out;
    logic [63:0]            data;
    // the two halves of the quadrature mirror filter, newest first
    logic [1:0][11:0][15:0] lines;
    band_t [1:0]            bands;       // 0: lower, 1: higher
  } codec_t;

  // The state at the start of a job, of the lower and of the higher band.
  localparam band_t BandReset0 = '{det: 16'd32, default: '0};
  localparam band_t BandReset1 = '{det: 16'd8, default: '0};

  // Saturates to least .. most.
  function automatic word_t limit(input logic signed [31:0] value, input logic signed [31:0] least,
                                  input logic signed [31:0] most);
    if (value < least) return least[15:0];
    return value > most ? most[15:0] : value[15:0];
  endfunction

  // Saturation of a 16-bit addition (clause 6.2), and the limits of a sub-band signal (clause
  // 5.2.1).
  function automatic word_t limit16(input logic signed [31:0] value);
    return limit(value, -32768, 32767);
  endfunction

  function automatic word_t limit15(input logic signed [31:0] value);
    return limit(value, -16384, 16383);
  endfunction

  // value * (1 - 2^-bits), rounded down: the leak of a coefficient
  function automatic logic signed [31:0] leak(input word_t value, input int unsigned bits);
    logic signed [31:0] wide;
    wide = 32'(value);
    return ((wide <<< bits) - wide) >>> bits;
  endfunction

  // H0, H2, ... H22 (table 11); the filter is symmetric.
  function automatic word_t tap(input logic [3:0] i);
    case (i)
      4'd0:    return 16'sd3;
      4'd1:    return -16'sd11;
      4'd2:    return 16'sd12;
      4'd3:    return 16'sd32;
      4'd4:    return -16'sd210;
      4'd5:    return 16'sd951;
      4'd6:    return 16'sd3876;
      4'd7:    return -16'sd805;
      4'd8:    return 16'sd362;
      4'd9:    return -16'sd156;
      4'd10:   return 16'sd53;
      default: return -16'sd11;
    endcase
  endfunction

  // Q6 (table 14): decision levels of the lower band, 1 .. 29
  function automatic word_t q6(input logic [4:0] level);
    case (level)
      5'd1:    return 16'sd35;
      5'd2:    return 16'sd72;
      5'd3:    return 16'sd110;
      5'd4:    return 16'sd150;
      5'd5:    return 16'sd190;
      5'd6:    return 16'sd233;
      5'd7:    return 16'sd276;
      5'd8:    return 16'sd323;
      5'd9:    return 16'sd370;
      5'd10:   return 16'sd422;
      5'd11:   return 16'sd473;
      5'd12:   return 16'sd530;
      5'd13:   return 16'sd587;
      5'd14:   return 16'sd650;
      5'd15:   return 16'sd714;
      5'd16:   return 16'sd786;
      5'd17:   return 16'sd858;
      5'd18:   return 16'sd940;
      5'd19:   return 16'sd1023;
      5'd20:   return 16'sd1121;
      5'd21:   return 16'sd1219;
      5'd22:   return 16'sd1339;
      5'd23:   return 16'sd1458;
      5'd24:   return 16'sd1612;
      5'd25:   return 16'sd1765;
      5'd26:   return 16'sd1980;
      5'd27:   return 16'sd2195;
      5'd28:   return 16'sd2557;
      default: return 16'sd2919;
    endcase
  endfunction

  localparam word_t Q2 = 16'sd564;  // the only decision level of the higher band

  // OQ6 * 8: output levels of the lower band, 1 .. 30; each decision level lies between two
  // neighbours.
  function automatic word_t oq6(input logic [4:0] level);
    case (level)
      5'd1:    return 16'sd136;
      5'd2:    return 16'sd432;
      5'd3:    return 16'sd728;
      5'd4:    return 16'sd1040;
      5'd5:    return 16'sd1360;
      5'd6:    return 16'sd1688;
      5'd7:    return 16'sd2032;
      5'd8:    return 16'sd2400;
      5'd9:    return 16'sd2776;
      5'd10:   return 16'sd3168;
      5'd11:   return 16'sd3576;
      5'd12:   return 16'sd4008;
      5'd13:   return 16'sd4464;
      5'd14:   return 16'sd4944;
      5'd15:   return 16'sd5456;
      5'd16:   return 16'sd6000;
      5'd17:   return 16'sd6576;
      5'd18:   return 16'sd7192;
      5'd19:   return 16'sd7856;
      5'd20:   return 16'sd8576;
      5'd21:   return 16'sd9360;
      5'd22:   return 16'sd10232;
      5'd23:   return 16'sd11192;
      5'd24:   return 16'sd12280;
      5'd25:   return 16'sd13512;
      5'd26:   return 16'sd14984;
      5'd27:   return 16'sd16704;
      5'd28:   return 16'sd19008;
      5'd29:   return 16'sd21904;
      default: return 16'sd24808;
    endcase
  endfunction

  // Codes of the lower band: 61 .. 32 are levels 1 .. 30 with positive sign; 63, 62 are levels 1, 2
  // with negative sign and 31 .. 4 its levels 3 .. 30; 3 .. 0 are never sent and mean 63.
  function automatic logic [5:0] code_of(input logic negative, input logic [4:0] level);
    if (!negative) return 6'd62 - 6'(level);
    return level <= 5'd2 ? 6'd0 - 6'(level) : 6'd34 - 6'(level);
  endfunction

  // QM6: output level of a code of the lower band, in the decoder's precision of six bits.
  function automatic word_t qm6(input logic [5:0] code);
    if (code >= 6'd62) return -oq6(5'(6'd0 - code));
    if (code >= 6'd32) return oq6(5'(6'd62 - code));
    return code >= 6'd4 ? -oq6(5'(6'd34 - code)) : -oq6(5'd1);
  endfunction

  // QM4, WL: the upper four bits of the lower band's code, which the adaptation uses
  function automatic word_t qm4(input logic [3:0] code);
    case (code)
      4'd1:    return -16'sd20456;
      4'd2:    return -16'sd12896;
      4'd3:    return -16'sd8968;
      4'd4:    return -16'sd6288;
      4'd5:    return -16'sd4240;
      4'd6:    return -16'sd2584;
      4'd7:    return -16'sd1200;
      4'd8:    return 16'sd20456;
      4'd9:    return 16'sd12896;
      4'd10:   return 16'sd8968;
      4'd11:   return 16'sd6288;
      4'd12:   return 16'sd4240;
      4'd13:   return 16'sd2584;
      4'd14:   return 16'sd1200;
      default: return 16'sd0;
    endcase
  endfunction

  function automatic word_t wl(input logic [3:0] code);
    case (code)
      4'd1, 4'd8:  return 16'sd3042;
      4'd2, 4'd9:  return 16'sd1198;
      4'd3, 4'd10: return 16'sd538;
      4'd4, 4'd11: return 16'sd334;
      4'd5, 4'd12: return 16'sd172;
      4'd6, 4'd13: return 16'sd58;
      4'd7, 4'd14: return -16'sd30;
      default:     return -16'sd60;
    endcase
  endfunction

  // QM2, WH: the same for the higher band's two bits
  function automatic word_t qm2(input logic [1:0] code);
    word_t magnitude;
    magnitude = code[0] ? 16'sd1616 : 16'sd7408;
    return code[1] ? magnitude : -magnitude;
  endfunction

  function automatic word_t wh(input logic inner);
    return inner ? -16'sd214 : 16'sd798;
  endfunction

  // ILB: round(2^11 * 2^(n / 32))
  function automatic logic [11:0] ilb(input logic [4:0] n);
    logic [31:0][11:0] table_of;
    table_of = {
      12'd4008, 12'd3922, 12'd3838, 12'd3756, 12'd3676, 12'd3597, 12'd3520, 12'd3444, 12'd3371,
      12'd3298, 12'd3228, 12'd3158, 12'd3091, 12'd3025, 12'd2960, 12'd2896, 12'd2834, 12'd2774,
      12'd2714, 12'd2656, 12'd2599, 12'd2543, 12'd2489, 12'd2435, 12'd2383, 12'd2332, 12'd2282,
          12'd2233, 12'd2186, 12'd2139, 12'd2093, 12'd2048
    };
    return table_of[n];
  endfunction

  // SCALEL, SCALEH: from logarithmic to linear. NB is at most 18432 and 22528, so one doubling is
  // enough.
  function automatic logic [15:0] scale(input logic [3:0] whole, input logic [4:0] part,
                                        input logic high);
    logic [3:0] right;
    logic [15:0] fraction;
    right    = (high ? 4'd10 : 4'd8) - whole;
    fraction = {4'b0, ilb(part)};
    return (whole > (high ? 4'd10 : 4'd8) ? fraction << 1 : fraction >> right) << 2;
  endfunction

endpackage
