// SPDX-License-Identifier: Apache-2.0
// A region in simulation: what it drives is what the task it holds drives; noise while it is being written, and while
// it holds nothing.
module region_model
  import fabric_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  task_t       held_i,
  input  logic        torn_i,
  input  logic [31:0] seed_i,
  input  logic        region_rst_ni,
  input  logic        start_i,
  input  logic        resume_i,
  input  logic        stop_i,
  input  logic [31:0] cmd_i,
  input  logic [31:0] size_i,
  input  custom_t     custom_i,
  output logic        stopped_o,
  output logic        over_o,
  output logic [31:0] result_o,
  input  word_t       in_data_i,
  input  logic        in_valid_i,
  input  logic        in_last_i,
  output logic        in_ready_o,
  output word_t       out_data_o,
  output logic        out_valid_o,
  output logic        out_last_o,
  input  logic        out_ready_i,
  input  logic        ctx_save_i,
  input  logic        ctx_restore_i,
  input  word_t       ctx_data_i,
  input  logic        ctx_valid_i,
  output logic        ctx_ready_o,
  output word_t       ctx_data_o,
  output logic        ctx_valid_o,
  output logic        ctx_last_o,
  input  logic        ctx_ready_i
);

  logic probe_stopped, probe_over, probe_in_ready, probe_out_valid, probe_out_last, probe_ctx_ready, probe_ctx_valid;
  logic probe_ctx_last;
  logic [31:0] probe_result;
  word_t probe_out, probe_ctx;

  hwtask_probe i_probe (
    .clk_i, .rst_ni(region_rst_ni), .start_i, .resume_i, .stop_i, .cmd_i, .size_i, .custom_i,
    .stopped_o(probe_stopped), .over_o(probe_over), .result_o(probe_result), .in_data_i, .in_valid_i, .in_last_i,
    .in_ready_o(probe_in_ready), .out_data_o(probe_out), .out_valid_o(probe_out_valid), .out_last_o(probe_out_last),
    .out_ready_i, .ctx_save_i, .ctx_restore_i, .ctx_data_i, .ctx_valid_i, .ctx_ready_o(probe_ctx_ready),
    .ctx_data_o(probe_ctx), .ctx_valid_o(probe_ctx_valid), .ctx_last_o(probe_ctx_last), .ctx_ready_i
  );

  // Noise: a long shift register, other bits of it for everything.
  logic [127:0] noise_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) noise_q <= {4{seed_i ^ 32'h1b5a39c7}};
    else noise_q <= {noise_q[126:0], noise_q[127] ^ noise_q[125] ^ noise_q[100] ^ noise_q[98]};
  end

  always_comb begin
    if (torn_i || held_i == TaskNone) begin
      {stopped_o, over_o, in_ready_o, out_valid_o, out_last_o, ctx_ready_o, ctx_valid_o, ctx_last_o} = noise_q[7:0];
      result_o   = noise_q[63:32];
      out_data_o = noise_q[127:64];
      ctx_data_o = noise_q[100:37];
    end else begin
      {stopped_o, over_o, in_ready_o, out_valid_o, out_last_o, ctx_ready_o, ctx_valid_o, ctx_last_o} = {
        probe_stopped, probe_over, probe_in_ready, probe_out_valid, probe_out_last, probe_ctx_ready, probe_ctx_valid,
        probe_ctx_last
      };
      result_o   = probe_result;
      out_data_o = probe_out;
      ctx_data_o = probe_ctx;
    end
  end

endmodule
