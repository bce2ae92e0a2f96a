// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the FFT tasks; model_fft.py implements the same rules.
//
// A sample has a signed 16-bit real and a signed 16-bit imaginary part. When the command says so
// for its stage, a butterfly's sum and difference are halved, rounding half to even; then they are
// saturated to 16 bits. A rotation multiplies by a factor with 16 fractional bits, rounds half up
// and saturates. -j swaps the parts and saturates -(-32768). Every saturation is recorded.
package fft_pkg;

  typedef struct packed {
    logic signed [15:0] im;
    logic signed [15:0] re;
  } sample_t;

  // A value, and whether it was saturated.
  typedef struct packed {
    logic               over;
    logic signed [15:0] value;
  } limited_t;

  // Saturates to 16 bits.
  function automatic limited_t limit(input logic signed [35:0] value);
    if (value > 36'sd32767) return '{over: 1'b1, value: 16'sd32767};
    if (value < -36'sd32768) return '{over: 1'b1, value: -16'sd32768};
    return '{over: 1'b0, value: value[15:0]};
  endfunction

  // Scales and saturates a butterfly's sum or difference. Rounding half up would accumulate to a
  // tone at bin 0.
  function automatic limited_t narrow(input logic signed [16:0] value, input logic halve);
    logic signed [35:0] wide;
    wide = 36'(value);
    return limit(halve ? (wide + signed'({35'b0, value[1]})) >>> 1 : wide);
  endfunction

  // round(2^16 * cos(2 pi i / 1024)), the first quadrant with both ends: entry 0 is 1, entry 256 is
  // 0. The value of entry 0 needs 17 bits.
  localparam logic [16:0] Quarter[257] = '{
    17'd65536, 17'd65535, 17'd65531, 17'd65525, 17'd65516, 17'd65505, 17'd65492, 17'd65476,
    17'd65457, 17'd65436, 17'd65413, 17'd65387, 17'd65358, 17'd65328, 17'd65294, 17'd65259,
    17'd65220, 17'd65180, 17'd65137, 17'd65091, 17'd65043, 17'd64993, 17'd64940, 17'd64884,
    17'd64827, 17'd64766, 17'd64704, 17'd64639, 17'd64571, 17'd64501, 17'd64429, 17'd64354,
    17'd64277, 17'd64197, 17'd64115, 17'd64031, 17'd63944, 17'd63854, 17'd63763, 17'd63668,
    17'd63572, 17'd63473, 17'd63372, 17'd63268, 17'd63162, 17'd63054, 17'd62943, 17'd62830,
    17'd62714, 17'd62596, 17'd62476, 17'd62353, 17'd62228, 17'd62101, 17'd61971, 17'd61839,
    17'd61705, 17'd61568, 17'd61429, 17'd61288, 17'd61145, 17'd60999, 17'd60851, 17'd60700,
    17'd60547, 17'd60392, 17'd60235, 17'd60075, 17'd59914, 17'd59750, 17'd59583, 17'd59415,
    17'd59244, 17'd59071, 17'd58896, 17'd58718, 17'd58538, 17'd58356, 17'd58172, 17'd57986,
    17'd57798, 17'd57607, 17'd57414, 17'd57219, 17'd57022, 17'd56823, 17'd56621, 17'd56418,
    17'd56212, 17'd56004, 17'd55794, 17'd55582, 17'd55368, 17'd55152, 17'd54934, 17'd54714,
    17'd54491, 17'd54267, 17'd54040, 17'd53812, 17'd53581, 17'd53349, 17'd53114, 17'd52878,
    17'd52639, 17'd52398, 17'd52156, 17'd51911, 17'd51665, 17'd51417, 17'd51166, 17'd50914,
    17'd50660, 17'd50404, 17'd50146, 17'd49886, 17'd49624, 17'd49361, 17'd49095, 17'd48828,
    17'd48559, 17'd48288, 17'd48015, 17'd47741, 17'd47464, 17'd47186, 17'd46906, 17'd46624,
    17'd46341, 17'd46056, 17'd45769, 17'd45480, 17'd45190, 17'd44898, 17'd44604, 17'd44308,
    17'd44011, 17'd43713, 17'd43412, 17'd43110, 17'd42806, 17'd42501, 17'd42194, 17'd41886,
    17'd41576, 17'd41264, 17'd40951, 17'd40636, 17'd40320, 17'd40002, 17'd39683, 17'd39362,
    17'd39040, 17'd38716, 17'd38391, 17'd38064, 17'd37736, 17'd37407, 17'd37076, 17'd36744,
    17'd36410, 17'd36075, 17'd35738, 17'd35401, 17'd35062, 17'd34721, 17'd34380, 17'd34037,
    17'd33692, 17'd33347, 17'd33000, 17'd32652, 17'd32303, 17'd31952, 17'd31600, 17'd31248,
    17'd30893, 17'd30538, 17'd30182, 17'd29824, 17'd29466, 17'd29106, 17'd28745, 17'd28383,
    17'd28020, 17'd27656, 17'd27291, 17'd26925, 17'd26558, 17'd26190, 17'd25821, 17'd25451,
    17'd25080, 17'd24708, 17'd24335, 17'd23961, 17'd23586, 17'd23210, 17'd22834, 17'd22457,
    17'd22078, 17'd21699, 17'd21320, 17'd20939, 17'd20557, 17'd20175, 17'd19792, 17'd19409,
    17'd19024, 17'd18639, 17'd18253, 17'd17867, 17'd17479, 17'd17091, 17'd16703, 17'd16314,
    17'd15924, 17'd15534, 17'd15143, 17'd14751, 17'd14359, 17'd13966, 17'd13573, 17'd13180,
    17'd12785, 17'd12391, 17'd11996, 17'd11600, 17'd11204, 17'd10808, 17'd10411, 17'd10014,
    17'd9616, 17'd9218, 17'd8820, 17'd8421, 17'd8022, 17'd7623, 17'd7224, 17'd6824, 17'd6424,
    17'd6023, 17'd5623, 17'd5222, 17'd4821, 17'd4420, 17'd4019, 17'd3617, 17'd3216, 17'd2814,
    17'd2412, 17'd2010, 17'd1608, 17'd1206, 17'd804, 17'd402, 17'd0
  };

  // The same for the full circle: angle in 1024ths of it, result -65536 .. 65536. The second and
  // the fourth quadrant read the table backwards.
  function automatic logic signed [17:0] cosine(input logic [9:0] angle);
    logic [8:0] mirrored;
    mirrored = 9'd256 - {1'b0, angle[7:0]};
    unique case (angle[9:8])
      2'd0: return signed'({1'b0, Quarter[9'(angle[7:0])]});
      2'd1: return -signed'({1'b0, Quarter[mirrored]});
      2'd2: return -signed'({1'b0, Quarter[9'(angle[7:0])]});
      2'd3: return signed'({1'b0, Quarter[mirrored]});
    endcase
  endfunction

endpackage
