// SPDX-License-Identifier: Apache-2.0
// The part that all HW tasks share: the states of a job, and the context port.
//
// The task logic sees `begin_o` in the cycle of the start and works while `run_o`, from the next
// cycle on. It raises `pause_i` when stop is high and it is at a consistency point, or `done_i`
// when the last beat of its output is out. It provides its context as a vector, which must not
// change while it is not running, and gets the context back word by word.
module hwtask_port
  import region_pkg::*;
#(
  /// Words of the task's context, 1..MaxCtxWords.
  parameter  int unsigned Words      = 1,
  localparam int unsigned IndexWidth = Words > 1 ? $clog2(Words) : 1
) (
  input  logic                    clk_i,
  /// Asynchronous, active low: region_rst_no of the region. No job after it, and every response
  /// idle.
  input  logic                    rst_ni,
  /// The region (region_pkg). A request changes the state at the end of its cycle, and only in a
  /// state in which the interface allows it.
  input  region_req_t             req_i,
  output region_rsp_t             rsp_o,
  /// The task logic's status word, valid in the cycle after done_i; its streams, which must be idle
  /// unless run_o.
  input  logic [31:0]             result_i,
  input  logic                    in_ready_i,
  input  logic [63:0]             out_data_i,
  input  logic                    out_valid_i,
  input  logic                    out_last_i,
  /// Pulse before run_o: set up a new job.
  output logic                    begin_o,
  /// Pulse before run_o: the context is that of a job to continue.
  output logic                    resume_o,
  /// The job runs.
  output logic                    run_o,
  /// At a consistency point with stop high; sampled only while run_o, like done_i.
  input  logic                    pause_i,
  /// The last beat of the output has left.
  input  logic                    done_i,
  /// The context, word 0 first; sampled a word a cycle while ctx_ready is high.
  input  logic [Words-1:0][63:0]  ctx_i,
  /// Write ctx_word_o to word ctx_index_o of the context.
  output logic                    ctx_write_o,
  /// Index of the word to write.
  output logic [IndexWidth-1:0]   ctx_index_o,
  output logic [63:0]             ctx_word_o
);

  // StIdle: no job, until start or ctx_restore. StRun: the task logic works.
  // StStopped: at a consistency point, or with a restored context, until ctx_save or resume.
  // StSave, StRestore: the context moves, a word in each cycle in which the static side is ready or
  // has a word; the state after the last word is StStopped.
  typedef enum logic [2:0] {StIdle, StRun, StStopped, StSave, StRestore} state_e;

  state_e state_q;
  logic [IndexWidth-1:0] index_q;
  logic over_q, last, ctx_ready, ctx_valid;

  assign last = index_q == IndexWidth'(Words - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      index_q <= '0;
      over_q  <= 1'b0;
    end else begin
      // A pulse in the cycle after the job's last one; the state is then idle, so over never comes
      // with stopped.
      over_q <= run_o && done_i;
      unique case (state_q)
        StIdle:
        if (req_i.ctx_restore) state_q <= StRestore;
        else if (req_i.start) state_q <= StRun;
        StRun:
        if (done_i) state_q <= StIdle;
        else if (pause_i) state_q <= StStopped;
        StStopped:
        if (req_i.ctx_save) state_q <= StSave;
        else if (req_i.resume) state_q <= StRun;
        StSave: if (req_i.ctx_ready && last) state_q <= StStopped;
        StRestore: if (req_i.ctx_valid && last) state_q <= StStopped;
        default: state_q <= StIdle;
      endcase
      if (ctx_write_o || (ctx_valid && req_i.ctx_ready))
        index_q <= last ? '0 : index_q + IndexWidth'(1);
    end
  end

  assign ctx_ready = state_q == StRestore;
  assign ctx_valid = state_q == StSave;

  assign begin_o     = state_q == StIdle && req_i.start && !req_i.ctx_restore;
  assign resume_o    = state_q == StStopped && req_i.resume && !req_i.ctx_save;
  assign run_o       = state_q == StRun;
  assign ctx_write_o = ctx_ready && req_i.ctx_valid;
  assign ctx_index_o = index_q;
  assign ctx_word_o  = req_i.ctx_data;
  assign rsp_o       = '{stopped: state_q == StStopped || state_q == StSave, over: over_q,
                         result: result_i, in_ready: in_ready_i, out_data: out_data_i,
                         out_valid: out_valid_i, out_last: out_last_i, ctx_ready: ctx_ready,
                         ctx_data: ctx_i[index_q], ctx_valid: ctx_valid, ctx_last: ctx_valid
                         && last};

  // The task logic uses the other members of the request.
  logic unused;
  assign unused = ^req_i;

endmodule
