// SPDX-License-Identifier: Apache-2.0
// A region whose HW task is a Verilated class of its own, evaluated by C++ (model.cc) and only
// while the task can change: during a job, a save and a restore, and some cycles after the last
// change. Otherwise like region_model: noise while the region is written or holds no task, the
// probe for a number that is no HW task.
//
// Outputs of a HW task are registers, or depend on its state and on members of the request that are
// stable during a job; except in_ready, which may depend on stop and out_ready in the same cycle.
// The probe's depend on all of the request.
module cosim_region
  import fabric_pkg::*;
  import region_pkg::*;
#(
  parameter int unsigned Region = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// The task in the region.
  input  task_t       held_i,
  /// The region is being written.
  input  logic        torn_i,
  /// A job runs, or its context moves.
  input  logic        runs_i,
  input  logic        region_rst_ni,
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  localparam int unsigned ReqBits = $bits(region_req_t);
  localparam int unsigned RspBits = $bits(region_rsp_t);
  localparam int unsigned Linger = 16;  // cycles of evaluation after the last change

  /// One clock edge of the region's task; rsp is its response after the edge.
  import "DPI-C" function void cosim_task_clock(
    input int unsigned region, input int unsigned held, input bit rst_n,
        input bit [ReqBits-1:0] req,
    output bit [RspBits-1:0] rsp
  );
  /// The response to another request in the same cycle.
  import "DPI-C" function void cosim_task_settle(
    input int unsigned region, input bit [ReqBits-1:0] req, output bit [RspBits-1:0] rsp
  );

  logic empty, probe;
  assign empty = torn_i || held_i == TaskNone;
  assign probe = !(held_i inside {[TaskNone : TaskG722]});

  // ---- The HW task ----
  task_t held, held_q;
  logic rst_q, awake, drives;
  logic [4:0] linger_q;
  logic [1:0] seen_q;  // stop and out_ready at the last edge
  bit [RspBits-1:0] task_q;
  region_rsp_t task_rsp;

  assign held     = torn_i ? TaskNone : held_i;
  assign task_rsp = region_rsp_t'(task_q);
  assign drives   = task_rsp.stopped || task_rsp.over || task_rsp.out_valid || task_rsp.ctx_ready
                    || task_rsp.ctx_valid;
  assign awake    = runs_i || drives || linger_q != '0 || held != held_q || region_rst_ni != rst_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    automatic bit [RspBits-1:0] next;
    next = '0;
    if (!rst_ni) begin
      held_q   <= TaskNone;
      rst_q    <= 1'b0;
      linger_q <= 5'(Linger);
      seen_q   <= '0;
      task_q   <= '0;
    end else begin
      held_q   <= held;
      rst_q    <= region_rst_ni;
      linger_q <= runs_i || held != held_q || region_rst_ni != rst_q ? 5'(Linger)
                  : linger_q - 5'(linger_q != '0);
      seen_q   <= {req_i.stop, req_i.out_ready};
      if (awake) begin
        cosim_task_clock(Region, 32'(held), region_rst_ni, req_i, next);
        task_q <= next;
      end
    end
  end

  // ---- Noise ----
  logic [127:0] noise_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) noise_q <= {4{32'(Region) ^ 32'h1b5a39c7}};
    else if (empty)
      noise_q <= {noise_q[126:0], noise_q[127] ^ noise_q[125] ^ noise_q[100] ^ noise_q[98]};
  end

  always_comb begin
    automatic bit [RspBits-1:0] now;
    automatic region_rsp_t settled;
    now     = '0;
    settled = '0;
    rsp_o   = task_rsp;
    if (empty) begin
      rsp_o = '{stopped: noise_q[7], over: noise_q[6], in_ready: noise_q[5], out_valid: noise_q[4],
                out_last: noise_q[3], ctx_ready: noise_q[2], ctx_valid: noise_q[1],
                ctx_last: noise_q[0], result: noise_q[63:32], out_data: noise_q[127:64],
                ctx_data: noise_q[100:37]};
    end else if (probe || {req_i.stop, req_i.out_ready} != seen_q) begin
      cosim_task_settle(Region, req_i, now);
      settled        = region_rsp_t'(now);
      rsp_o.in_ready = settled.in_ready;
      if (probe) rsp_o = settled;
    end
  end

endmodule
