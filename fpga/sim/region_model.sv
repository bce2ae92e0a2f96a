// SPDX-License-Identifier: Apache-2.0
// A model of a region: it drives the outputs of the task it holds, and noise while it is being
// written or holds no task.
module region_model
  import fabric_pkg::*;
#(
  parameter bit RealTasks = 1'b0
) (
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

  // The outputs of every task that the region can hold: the probe and, with RealTasks, all others
  // by number.
  typedef struct packed {
    logic stopped, over, in_ready, out_valid, out_last, ctx_ready, ctx_valid, ctx_last;
    logic [31:0] result;
    word_t out_data, ctx_data;
  } driven_t;
  localparam int unsigned NumTasks = RealTasks ? 7 : 1;
  driven_t [NumTasks-1:0] tasks;
  driven_t driven;

  for (genvar t = 0; t < int'(NumTasks); t++) begin : gen_task
    logic present;
    assign present = t == 0 || held_i == task_t'(t);
    if (t == 0) begin : gen_probe
      hwtask_probe i_probe (
        .clk_i, .rst_ni(region_rst_ni && present), .start_i, .resume_i, .stop_i, .cmd_i, .size_i, .custom_i,
        .stopped_o(tasks[t].stopped), .over_o(tasks[t].over), .result_o(tasks[t].result), .in_data_i, .in_valid_i,
        .in_last_i, .in_ready_o(tasks[t].in_ready), .out_data_o(tasks[t].out_data), .out_valid_o(tasks[t].out_valid),
        .out_last_o(tasks[t].out_last), .out_ready_i, .ctx_save_i, .ctx_restore_i, .ctx_data_i, .ctx_valid_i,
        .ctx_ready_o(tasks[t].ctx_ready), .ctx_data_o(tasks[t].ctx_data), .ctx_valid_o(tasks[t].ctx_valid),
        .ctx_last_o(tasks[t].ctx_last), .ctx_ready_i
      );
    end else begin : gen_real
      hwtask_any #(.Task(task_t'(t))) i_real (
        .clk_i, .rst_ni(region_rst_ni && present), .start_i, .resume_i, .stop_i, .cmd_i, .size_i, .custom_i,
        .stopped_o(tasks[t].stopped), .over_o(tasks[t].over), .result_o(tasks[t].result), .in_data_i, .in_valid_i,
        .in_last_i, .in_ready_o(tasks[t].in_ready), .out_data_o(tasks[t].out_data), .out_valid_o(tasks[t].out_valid),
        .out_last_o(tasks[t].out_last), .out_ready_i, .ctx_save_i, .ctx_restore_i, .ctx_data_i, .ctx_valid_i,
        .ctx_ready_o(tasks[t].ctx_ready), .ctx_data_o(tasks[t].ctx_data), .ctx_valid_o(tasks[t].ctx_valid),
        .ctx_last_o(tasks[t].ctx_last), .ctx_ready_i
      );
    end
  end

  always_comb begin
    driven = tasks[0];
    for (int t = 1; t < int'(NumTasks); t++) begin
      if (held_i == task_t'(t)) driven = tasks[t];
    end
  end

  // Noise: a long shift register; each output uses different bits of it.
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
        driven.stopped, driven.over, driven.in_ready, driven.out_valid, driven.out_last, driven.ctx_ready,
        driven.ctx_valid, driven.ctx_last
      };
      result_o   = driven.result;
      out_data_o = driven.out_data;
      ctx_data_o = driven.ctx_data;
    end
  end

endmodule
