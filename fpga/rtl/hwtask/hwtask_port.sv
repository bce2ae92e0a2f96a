// SPDX-License-Identifier: Apache-2.0
// The part that all HW tasks share: the states of a job, and the context port.
//
// The task logic sees `begin_o` in the cycle after the start and works while `run_o`. It raises
// `pause_i` when stop_i is high and it is at a consistency point, or `done_i` when the last beat of
// its output is out. It provides its context as a vector, which must not change while it is not
// running, and gets the context back word by word.
module hwtask_port #(
  parameter  int unsigned Words      = 1,
  localparam int unsigned IndexWidth = Words > 1 ? $clog2(Words) : 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // the HW-task interface (fabric_pkg)
  input  logic                    start_i,
  input  logic                    resume_i,
  output logic                    stopped_o,
  output logic                    over_o,
  input  logic                    ctx_save_i,
  input  logic                    ctx_restore_i,
  input  logic [63:0]             ctx_data_i,
  input  logic                    ctx_valid_i,
  output logic                    ctx_ready_o,
  output logic [63:0]             ctx_data_o,
  output logic                    ctx_valid_o,
  output logic                    ctx_last_o,
  input  logic                    ctx_ready_i,
  // the task logic
  /// Pulse before run_o: set up a new job.
  output logic                    begin_o,
  /// Pulse before run_o: the context is that of a job to continue.
  output logic                    resume_o,
  /// The job runs.
  output logic                    run_o,
  /// At a consistency point with stop_i high; sampled only while run_o, like done_i.
  input  logic                    pause_i,
  /// The last beat of the output has left.
  input  logic                    done_i,
  input  logic [Words-1:0][63:0]  ctx_i,
  /// Write ctx_word_o to word ctx_index_o of the context.
  output logic                    ctx_write_o,
  /// Index of the word to write.
  output logic [IndexWidth-1:0]   ctx_index_o,
  output logic [63:0]             ctx_word_o
);

  typedef enum logic [2:0] {StIdle, StRun, StStopped, StSave, StRestore} state_e;

  state_e state_q;
  logic [IndexWidth-1:0] index_q;
  logic over_q, last;

  assign last = index_q == IndexWidth'(Words - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      index_q <= '0;
      over_q  <= 1'b0;
    end else begin
      over_q <= run_o && done_i;
      unique case (state_q)
        StIdle:
        if (ctx_restore_i) state_q <= StRestore;
        else if (start_i) state_q <= StRun;
        StRun:
        if (done_i) state_q <= StIdle;
        else if (pause_i) state_q <= StStopped;
        StStopped:
        if (ctx_save_i) state_q <= StSave;
        else if (resume_i) state_q <= StRun;
        StSave: if (ctx_ready_i && last) state_q <= StStopped;
        StRestore: if (ctx_valid_i && last) state_q <= StStopped;
        default: state_q <= StIdle;
      endcase
      if (ctx_write_o || (ctx_valid_o && ctx_ready_i)) index_q <= last ? '0 : index_q + IndexWidth'(1);
    end
  end

  assign begin_o     = state_q == StIdle && start_i && !ctx_restore_i;
  assign resume_o    = state_q == StStopped && resume_i && !ctx_save_i;
  assign run_o       = state_q == StRun;
  assign stopped_o   = state_q == StStopped || state_q == StSave;
  assign over_o      = over_q;
  assign ctx_ready_o = state_q == StRestore;
  assign ctx_write_o = ctx_ready_o && ctx_valid_i;
  assign ctx_index_o = index_q;
  assign ctx_word_o  = ctx_data_i;
  assign ctx_valid_o = state_q == StSave;
  assign ctx_data_o  = ctx_i[index_q];
  assign ctx_last_o  = ctx_valid_o && last;

endmodule
