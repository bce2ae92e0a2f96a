// SPDX-License-Identifier: Apache-2.0
// A model of a region: a region_port and all tasks. It drives the outputs of the task it holds, and
// noise while it is being written or holds no task.
module region_model
  import fabric_pkg::*;
  import region_pkg::*;
#(
  parameter bit RealTasks = 1'b0,
  /// With RealTasks: the tasks that the region can hold, by number.
  parameter logic [7:1] Tasks = '1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  task_t       held_i,
  input  logic        torn_i,
  input  logic [31:0] seed_i,
  input  logic        region_rst_ni,
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  // The outputs of every task that the region can hold: the probe and, with RealTasks, all others
  // by number.
  localparam int unsigned NumTasks = RealTasks ? 7 : 1;
  region_rsp_t [NumTasks-1:0] tasks;
  region_req_t task_req;
  region_rsp_t task_rsp, driven;

  region_port i_port (
    .clk_i, .rst_ni(region_rst_ni), .req_i, .rsp_o(driven), .task_req_o(task_req),
    .task_rsp_i(task_rsp)
  );

  for (genvar t = 0; t < int'(NumTasks); t++) begin : gen_task
    logic present;
    assign present = t == 0 || held_i == task_t'(t);
    if (t == 0) begin : gen_probe
      hwtask_probe i_probe (.clk_i, .rst_ni(region_rst_ni && present), .req_i(task_req),
                            .rsp_o(tasks[t]));
    end else if (!Tasks[t]) begin : gen_absent
      assign tasks[t] = '0;
    end else begin : gen_real
      hwtask_any #(.Task(task_t'(t))) i_real (
        .clk_i, .rst_ni(region_rst_ni && present), .req_i(task_req), .rsp_o(tasks[t])
      );
    end
  end

  always_comb begin
    task_rsp = tasks[0];
    for (int t = 1; t < int'(NumTasks); t++) begin
      if (held_i == task_t'(t)) task_rsp = tasks[t];
    end
  end

  // Noise: a long shift register; each output uses different bits of it.
  logic [127:0] noise_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) noise_q <= {4{seed_i ^ 32'h1b5a39c7}};
    else noise_q <= {noise_q[126:0], noise_q[127] ^ noise_q[125] ^ noise_q[100] ^ noise_q[98]};
  end

  always_comb begin
    rsp_o = driven;
    if (torn_i || held_i == TaskNone) begin
      rsp_o = '{stopped: noise_q[7], over: noise_q[6], in_ready: noise_q[5], out_valid: noise_q[4],
                out_last: noise_q[3], ctx_ready: noise_q[2], ctx_valid: noise_q[1],
                ctx_last: noise_q[0], result: noise_q[63:32], out_data: noise_q[127:64],
                ctx_data: noise_q[100:37]};
    end
  end

endmodule
