// SPDX-License-Identifier: Apache-2.0
// HW task: AES-128 (FIPS 197) in the modes ECB, CBC and CTR (NIST SP 800-38A), one round a cycle.
//
// Command: 0 ECB encrypt, 1 ECB decrypt, 2 CBC encrypt, 3 CBC decrypt, 4 CTR. Custom registers
// 0 .. 3 are the key, 4 .. 7 the initial vector or first counter, byte 0 lowest. ECB and CBC need
// whole blocks; CTR takes any number of bytes, and the unused bytes of the last output beat are 0.
// Result: 0 done, 1 the size is not a multiple of a block, 2 unknown command; with results 1 and 2
// the task consumes and produces nothing.
//
// Consistency points are between blocks; the context is the vector or counter, and the number of
// bytes left.
module hwtask_aes128
  import hwtask_aes_pkg::*;
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; no job after it. Key and data registers are not reset: a job sets
  /// them before it uses them.
  input  logic        rst_ni,
  /// Contract of region_pkg. A block takes two cycles to come in, twelve to be enciphered, two to
  /// leave; with a decryption ten more at the start and after a resume, for the last round key. The
  /// output has as many beats as the input, and the blocks do not overlap in time.
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  logic in_ready, out_valid, out_last;
  logic [31:0] result;
  fabric_pkg::word_t out_data;
  localparam logic [2:0] ModeEcbDecrypt = 3'd1;
  localparam logic [2:0] ModeCbcEncrypt = 3'd2;
  localparam logic [2:0] ModeCbcDecrypt = 3'd3;
  localparam logic [2:0] ModeCtr = 3'd4;

  // SLastKey: the key schedule for a decryption. SLoad: beats of a block come. SBegin: the first
  // key. SRound: ten rounds. SEnd: the mode's part. SGive: beats leave.
  typedef enum logic [2:0] {SLastKey, SLoad, SBegin, SRound, SEnd, SGive} state_e;

  logic begin_job, resume, run, pause, done, ctx_write;
  logic [1:0] ctx_index;
  logic [63:0] ctx_word;
  logic [31:0] bytes_left_q;
  block_t chain_q;  // initial vector, last block of ciphertext, or counter

  hwtask_port #(.Words(hwtask_pkg::AesCtxWords)) i_port (
    .clk_i, .rst_ni, .req_i, .rsp_o, .result_i(result), .in_ready_i(in_ready),
    .out_data_i(out_data), .out_valid_i(out_valid), .out_last_i(out_last), .begin_o(begin_job),
    .resume_o(resume), .run_o(run), .pause_i(pause), .done_i(done),
    .ctx_i({32'b0, bytes_left_q, chain_q}), .ctx_write_o(ctx_write), .ctx_index_o(ctx_index),
    .ctx_word_o(ctx_word)
  );

  // ---- Command ----
  logic [2:0] mode;
  logic decrypts, refused, unknown, ragged;
  assign mode     = req_i.cmd[2:0];
  assign decrypts = mode == ModeEcbDecrypt || mode == ModeCbcDecrypt;
  assign unknown  = req_i.cmd > 32'd4;
  assign ragged   = mode != ModeCtr && req_i.size[3:0] != '0;
  assign refused  = unknown || ragged;
  assign result   = unknown ? 32'd2 : ragged ? 32'd1 : 32'd0;

  // ---- Data path of a block: two beats in, ten rounds, two beats out ----
  state_e state_q;
  logic half_q;  // at the second beat
  logic [3:0] round_q;
  block_t data_q, block_q, key_q, last_key_q, key_next, rounded;
  logic ends_here, take, give, fresh, last_beat;

  assign fresh     = state_q == SLastKey || (state_q == SLoad && !half_q);
  // at most 8 bytes
  assign last_beat = bytes_left_q[31:4] == '0 && (!bytes_left_q[3] || bytes_left_q[2:0] == '0);
  assign ends_here = half_q || last_beat;  // the beat is the last one of its block
  assign in_ready  = run && state_q == SLoad && !refused && bytes_left_q != '0
                     && !(req_i.stop && !half_q);
  assign take      = in_ready && req_i.in_valid;
  assign out_valid = run && state_q == SGive;
  assign give      = out_valid && req_i.out_ready;
  assign out_last  = out_valid && last_beat;
  assign done      = refused || (fresh && bytes_left_q == '0);
  assign pause     = req_i.stop && fresh;

  always_comb begin
    out_data = half_q ? data_q[15:8] : data_q[7:0];
    for (int unsigned i = 0; i < 8; i++) begin
      if (bytes_left_q[31:3] == '0 && bytes_left_q[2:0] <= 3'(i)) out_data[8*i+:8] = '0;
    end
  end

  // ---- One round ----
  block_t to_substitute, substituted, moved, keyed, mixed;
  logic back;

  // SubBytes and ShiftRows commute, and ShiftRows is only wiring; the inverse applies them in
  // reverse order.
  for (genvar i = 0; i < 16; i++) begin : gen_substitute
    hwtask_aes_sbox i_sbox (.inverse_i(decrypts), .byte_i(to_substitute[i]),
                            .byte_o(substituted[i]));
  end
  assign to_substitute = decrypts ? inverse_shift_rows(block_q) : block_q;

  // Encryption uses the keys 0 to 10, decryption 10 to 0; round_q counts 1 .. 10 in both cases.
  assign back = state_q != SLastKey && decrypts;
  hwtask_aes_key i_key (
    .back_i(back), .round_i(back ? 4'd11 - round_q : round_q), .key_i(key_q), .key_o(key_next)
  );

  // MixColumns precedes AddRoundKey; InvMixColumns (MixColumns after a correction) follows it.
  assign moved = decrypts ? substituted : shift_rows(substituted);
  assign keyed = moved ^ key_next;
  assign mixed = mix_columns(decrypts ? before_inverse_mix(keyed) : moved);
  always_comb begin
    if (round_q == 4'd10) rounded = keyed;
    else rounded = decrypts ? mixed : mixed ^ key_next;
  end

  // ---- Modes ----
  block_t first_key, into, outcome, counter_next;
  logic [127:0] counter;
  assign first_key = decrypts ? last_key_q : req_i.custom[3:0];
  assign into      = mode == ModeCtr ? chain_q : mode == ModeCbcEncrypt ? data_q ^ chain_q : data_q;
  always_comb begin
    outcome = block_q;
    if (mode == ModeCtr) outcome = block_q ^ data_q;
    if (mode == ModeCbcDecrypt) outcome = block_q ^ chain_q;
    // The counter is a 128-bit number, most significant byte first.
    for (int unsigned i = 0; i < 16; i++) counter[8*i+:8] = chain_q[15-i];
    counter = counter + 128'd1;
    for (int unsigned i = 0; i < 16; i++) counter_next[15-i] = counter[8*i+:8];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= SLoad;
      half_q       <= 1'b0;
      round_q      <= '0;
      bytes_left_q <= '0;
    end else if (begin_job || resume || ctx_write) begin
      // A decryption starts with the last round key, which the key schedule reaches after ten
      // steps.
      state_q <= decrypts ? SLastKey : SLoad;
      half_q  <= 1'b0;
      round_q <= 4'd1;
      if (begin_job) bytes_left_q <= req_i.size;
      if (ctx_write && ctx_index == 2'd2) bytes_left_q <= ctx_word[31:0];
    end else if (run) begin
      unique case (state_q)
        SLastKey: begin
          round_q <= round_q + 4'd1;
          if (round_q == 4'd10) state_q <= SLoad;
        end
        SLoad:
        if (take) begin
          half_q <= !ends_here;
          if (ends_here) state_q <= SBegin;
        end
        SBegin: begin
          round_q <= 4'd1;
          half_q  <= 1'b0;
          state_q <= SRound;
        end
        SRound: begin
          round_q <= round_q + 4'd1;
          if (round_q == 4'd10) state_q <= SEnd;
        end
        SEnd: state_q <= SGive;
        SGive:
        if (give) begin
          half_q       <= !ends_here;
          bytes_left_q <= out_last ? '0 : bytes_left_q - 32'd8;
          if (ends_here) state_q <= SLoad;
        end
        default: state_q <= SLoad;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (begin_job) chain_q <= req_i.custom[7:4];
    else if (ctx_write && ctx_index == 2'd0) chain_q[7:0] <= ctx_word;
    else if (ctx_write && ctx_index == 2'd1) chain_q[15:8] <= ctx_word;
    else if (run && state_q == SEnd) begin
      // What the next block needs of this one.
      if (mode == ModeCtr) chain_q <= counter_next;
      else chain_q <= mode == ModeCbcEncrypt ? block_q : data_q;
    end
    if (take && half_q) data_q[15:8] <= req_i.in_data;
    else if (take) data_q[7:0] <= req_i.in_data;
    else if (state_q == SEnd) data_q <= outcome;
    if (begin_job || resume) key_q <= req_i.custom[3:0];
    else if (state_q == SBegin) key_q <= first_key;
    else if (state_q == SRound || state_q == SLastKey) key_q <= key_next;
    if (state_q == SLastKey) last_key_q <= key_next;
    if (state_q == SBegin) block_q <= into ^ first_key;
    else if (state_q == SRound) block_q <= rounded;
  end

  logic unused;
  assign unused = ^{req_i, ctx_word};

endmodule
