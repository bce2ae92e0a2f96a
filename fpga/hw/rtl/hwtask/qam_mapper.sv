// SPDX-License-Identifier: Apache-2.0
// Maps bits to 16-QAM or 64-QAM symbols with the Gray code of IEEE 802.11 (tables 17-14, 17-15),
// two symbols a cycle.
//
// Bit 0 of byte 0 comes first. A symbol takes BitsPerSymbol bits, the first half for I and the
// second half for Q; the first bit of each half is the sign. A beat is {Q1, I1, Q0, I0}, 16 bits
// each with 14 fractional bits, scaled to a mean power of 1: round(level * 2^14 / sqrt(10 or 42)).
// Bits after the end of the data are 0; so is a second symbol after the end.
//
// Input beats are collected into a group that makes a whole number of output beats, while the
// previous group is mapped. Consistency points are between groups; the context is the number of
// input bytes left.
module qam_mapper
  import region_pkg::*;
#(
  /// 4 or 6. A group, the least number of input beats that makes whole output beats, has 1 or 3
  /// beats; Step bits make an output beat.
  parameter  int unsigned BitsPerSymbol = 4,
  localparam int unsigned GroupBeats    = BitsPerSymbol == 4 ? 1 : 3,
  localparam int unsigned GroupBits     = 64 * GroupBeats,
  localparam int unsigned Step          = 2 * BitsPerSymbol
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no job after it.
  input  logic        rst_ni,
  /// Contract of region_pkg; cmd and custom are not used. An output beat in each cycle while input
  /// suffices.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  logic in_ready, out_valid, out_last;
  logic [31:0] result;
  fabric_pkg::word_t out_data;
  logic begin_job, run, pause, done, ctx_write, unused_resume, unused_index;
  logic [63:0] ctx_word;

  // What is left, in bits to map and in bytes to read. At a consistency point each follows from the
  // other.
  logic [34:0] bits_left_q;
  logic [31:0] bytes_left_q;

  hwtask_port #(.Words(hwtask_pkg::QamCtxWords)) i_port (
    .clk_i, .rst_ni, .req_i, .rsp_o, .result_i(result), .in_ready_i(in_ready),
    .out_data_i(out_data), .out_valid_i(out_valid), .out_last_i(out_last), .begin_o(begin_job),
    .resume_o(unused_resume), .run_o(run), .pause_i(pause), .done_i(done),
    .ctx_i({32'b0, bytes_left_q}), .ctx_write_o(ctx_write), .ctx_index_o(unused_index),
    .ctx_word_o(ctx_word)
  );

  // ---- Collecting: `fill_q` takes beats until the group is complete or the data end ----
  logic [GroupBeats-1:0][63:0] fill_q;
  logic [1:0] filled_q;
  // The group is collected; a beat is taken; the group moves on to the mapping; the mapping holds a
  // group, and is free for the next one at the end of this cycle.
  logic complete, take, move, cur_valid_q, cur_empties;
  logic [63:0] in_masked;

  assign complete = filled_q == 2'(GroupBeats) || (filled_q != '0 && bytes_left_q == '0);
  assign in_ready = run && !complete && bytes_left_q != '0 && !(req_i.stop && filled_q == '0);
  assign take     = in_ready && req_i.in_valid;

  // The last beat may have bytes after the end.
  always_comb begin
    in_masked = req_i.in_data;
    for (int unsigned i = 0; i < 8; i++) if (bytes_left_q <= i) in_masked[8*i+:8] = '0;
  end

  // ---- Mapping: `cur_q` supplies two symbols a cycle from its low end ----
  logic [GroupBits-1:0] cur_q;
  logic [4:0] beats_q;  // beats left in cur_q, minus one
  logic give;

  assign give        = out_valid && req_i.out_ready;
  assign cur_empties = !cur_valid_q || (give && (beats_q == '0 || out_last));
  assign move        = complete && cur_empties;
  assign out_valid   = run && cur_valid_q;
  assign out_last    = out_valid && bits_left_q <= 35'(Step);
  assign pause       = req_i.stop && filled_q == '0 && !cur_valid_q;
  assign done        = filled_q == '0 && !cur_valid_q && bytes_left_q == '0;
  assign result      = '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_left_q  <= '0;
      bytes_left_q <= '0;
      filled_q     <= '0;
      cur_valid_q  <= 1'b0;
      beats_q      <= '0;
    end else begin
      if (begin_job) begin
        bits_left_q  <= {req_i.size, 3'b0};
        bytes_left_q <= req_i.size;
      end else if (ctx_write) begin
        bits_left_q  <= {ctx_word[31:0], 3'b0};
        bytes_left_q <= ctx_word[31:0];
      end else begin
        if (take) bytes_left_q <= bytes_left_q > 32'd8 ? bytes_left_q - 32'd8 : '0;
        if (give) bits_left_q <= out_last ? '0 : bits_left_q - 35'(Step);
      end
      filled_q <= move ? '0 : filled_q + 2'(take);
      if (move) begin
        cur_valid_q <= 1'b1;
        beats_q     <= 5'(GroupBits / Step - 1);
      end else if (give) begin
        cur_valid_q <= !cur_empties;
        beats_q     <= beats_q - 5'd1;
      end
    end
  end

  // Data need no reset: `filled_q` and `cur_valid_q` say which bits are valid. A partial group is
  // padded with zeros.
  always_ff @(posedge clk_i) begin
    if (take) begin
      for (int unsigned i = 0; i < GroupBeats; i++) begin
        if (filled_q == 2'(i)) fill_q[i] <= in_masked;
        else if (filled_q == '0) fill_q[i] <= '0;
      end
    end
    if (move) cur_q <= fill_q;
    else if (give) cur_q <= cur_q >> Step;
  end

  // ---- The constellation ----
  // An axis from its bits b0 b1 (b2); b0 is first in the stream and therefore the lowest bit. b0 is
  // the sign, the others are Gray code.
  function automatic logic [15:0] level(input logic [2:0] bits);
    logic [15:0] magnitude;
    if (BitsPerSymbol == 4) begin
      magnitude = bits[1] ? 16'd5181 : 16'd15543;  // 1, 3
    end else begin
      case (bits[2:1])
        2'b00:   magnitude = 16'd17697;  // 7
        2'b10:   magnitude = 16'd12641;  // 5
        2'b11:   magnitude = 16'd7584;   // 3
        default: magnitude = 16'd2528;   // 1
      endcase
    end
    return bits[0] ? magnitude : -magnitude;
  endfunction

  logic second;
  assign second = bits_left_q > 35'(BitsPerSymbol);
  always_comb begin
    out_data[15:0]  = level(3'(cur_q[0+:BitsPerSymbol/2]));
    out_data[31:16] = level(3'(cur_q[BitsPerSymbol/2+:BitsPerSymbol/2]));
    out_data[47:32] = second ? level(3'(cur_q[BitsPerSymbol+:BitsPerSymbol/2])) : '0;
    out_data[63:48] = second ? level(3'(cur_q[3*BitsPerSymbol/2+:BitsPerSymbol/2])) : '0;
  end

  // No result, and in_last is redundant with the count of bytes.
  logic unused;
  assign unused = ^{req_i, ctx_word[63:32], unused_resume, unused_index};

endmodule
