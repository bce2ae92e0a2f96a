// SPDX-License-Identifier: Apache-2.0
// The state machine of one region: who has it, who gets it next, what it holds. It moves nothing itself; prr_run does
// and says what happened. Every input that is a pulse may come in any state: what does not fit is without effect.
module prr_fsm
  import fabric_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // the monitor
  input  logic        alloc_i,         // pulse: given to this client, whose device needs this task
  input  client_t     alloc_client_i,
  input  task_t       alloc_task_i,
  input  logic        cancel_i,        // pulse: the client in Hold, Idle or Reconfig does not want it any more
  input  logic        stop_i,          // pulse: stop the job, save it, give the region to nobody
  input  logic [31:0] hold_cycles_i,   // how long Hold waits for the client
  input  logic [31:0] stop_cycles_i,   // how long a task may take to stop, and to save or restore
  // prr_run
  input  logic        begin_i,         // pulse: a new job begins
  input  logic        restore_i,       // pulse: a saved job is being restored
  input  logic        restored_i,      // pulse: and runs again
  input  logic        over_i,          // pulse: the job is over, its output written
  input  logic        stopped_i,       // pulse: the task stands at a consistency point
  input  logic        saved_i,         // pulse: its context is saved
  input  logic        quiet_i,         // no transaction of the region is under way or can begin
  input  logic        fault_i,         // pulse: the job failed
  input  fault_e      fault_why_i,
  // the configuration port
  input  logic        cfg_done_i,      // pulse: configured
  input  logic        cfg_fail_i,      // pulse: tried in vain
  // what is so
  output prr_state_e  state_o,
  output logic        client_valid_o,
  output client_t     client_o,
  output task_t       task_o,
  output logic        next_valid_o,    // promised to another
  output client_t     next_o,
  output task_t       target_o,        // what Reconfig waits for
  output logic        couple_o,
  output logic        region_rst_no,
  // what prr_run does
  output logic        stop_task_o,     // level
  output logic        save_o,          // level, during Switch
  output logic        abort_o,         // level, during Switch
  output logic        hung_o,          // pulse: took longer than stop_cycles_i
  // events
  output logic        drop_o,          // pulse: disconnect the IF
  output logic        requeue_o,       // pulse: this client lost the region and waits again
  output client_t     requeue_client_o,
  output logic        stopped_o,       // pulse: interrupt PRR Stopped
  output logic        expired_o        // pulse: Hold was not used
);

  typedef enum logic [1:0] {SwSave, SwRestore, SwAbort} switch_e;

  typedef struct packed {
    prr_state_e state;
    switch_e    switching;
    logic       client_valid;
    client_t    client;
    logic       next_valid;
    client_t    next;
    task_t      task_id;
    task_t      target;
  } regs_t;

  regs_t d, q;
  logic [31:0] timer_q;
  logic [1:0] reset_q;
  logic timing_d, clear_timer, begin_reset, leave, passed, distrust, taken, again;

  assign distrust = fault_i && fault_why_i != FaultDma && fault_why_i != FaultBus;
  assign taken    = alloc_i;
  assign again    = q.client_valid && q.client.vm == alloc_client_i.vm && q.client.dev == alloc_client_i.dev
                    && d.state == StHold;

  // Given to a client while no job is in the region.
  function automatic regs_t handed(regs_t from, client_t client, task_t wanted);
    regs_t to = from;
    to.client_valid = 1'b1;
    to.client       = client;
    to.next_valid   = 1'b0;
    to.target       = wanted;
    to.state        = from.task_id == wanted && wanted != TaskNone ? StHold : StReconfig;
    return to;
  endfunction

  // The job has left; the region is the next one's, or nobody's.
  function automatic regs_t vacated(regs_t from);
    regs_t to = from;
    if (from.next_valid) return handed(from, from.next, from.target);
    to.client_valid = 1'b0;
    to.state        = StIdle;
    return to;
  endfunction

  // Somebody gets the region while a job runs in it.
  function automatic regs_t promised(regs_t from, client_t client, task_t wanted);
    regs_t to = from;
    to.state      = StPreempt;
    to.next_valid = 1'b1;
    to.next       = client;
    to.target     = wanted;
    return to;
  endfunction

  always_comb begin
    d         = q;
    leave     = 1'b0;
    passed    = 1'b0;
    requeue_o = 1'b0;
    expired_o = 1'b0;
    drop_o    = 1'b0;
    unique case (q.state)
      StIdle: begin
        if (fault_i) d.task_id = TaskNone;
        if (taken) begin
          d      = handed(d, alloc_client_i, alloc_task_i);
          drop_o = !again;  // whoever had it last, and gets it again, keeps its connection
        end else if (cancel_i || fault_i) begin
          d.client_valid = 1'b0;
          drop_o         = 1'b1;
        end else if (begin_i) d.state = StBusy;
        else if (restore_i) begin
          d.state     = StSwitch;
          d.switching = SwRestore;
        end
      end
      StHold: begin
        if (fault_i) d.task_id = TaskNone;
        if (taken) begin
          d         = handed(d, alloc_client_i, alloc_task_i);
          drop_o    = 1'b1;
          requeue_o = 1'b1;
        end else if (cancel_i || fault_i || (timer_q >= hold_cycles_i && !begin_i && !restore_i)) begin
          d.client_valid = 1'b0;
          d.state        = StIdle;
          drop_o         = 1'b1;
          requeue_o      = fault_i && !cancel_i;
          expired_o      = !cancel_i && !fault_i;
        end else if (begin_i) d.state = StBusy;
        else if (restore_i) begin
          d.state     = StSwitch;
          d.switching = SwRestore;
        end
      end
      StBusy: begin
        if (fault_i) begin
          if (taken) d = promised(d, alloc_client_i, alloc_task_i);
          d.state     = StSwitch;
          d.switching = SwAbort;
        end else if (over_i) begin
          d.state = StIdle;
          if (taken) begin  // the monitor saw a job, and its answer was to wait until that has left
            d      = handed(d, alloc_client_i, alloc_task_i);
            drop_o = 1'b1;
            passed = 1'b1;
          end
        end else if (taken) d = promised(d, alloc_client_i, alloc_task_i);
        else if (stop_i) d.state = StPreempt;
      end
      StPreempt: begin
        if (fault_i) begin
          d.state     = StSwitch;
          d.switching = SwAbort;
        end else if (over_i) leave = 1'b1;
        else if (stopped_i) begin
          d.state     = StSwitch;
          d.switching = SwSave;
        end
      end
      StSwitch: begin
        if (fault_i) d.switching = SwAbort;
        else if (q.switching == SwAbort) leave = quiet_i;
        else if (q.switching == SwRestore && restored_i) d.state = StBusy;
        else if (q.switching == SwSave && saved_i) begin
          leave     = 1'b1;
          requeue_o = q.next_valid;
        end
      end
      default: begin  // StReconfig
        if (cfg_done_i) begin
          d.state   = StHold;
          d.task_id = q.target;
        end else if (cfg_fail_i || cancel_i) begin
          d.state        = StIdle;
          d.client_valid = 1'b0;
        end
      end
    endcase
    if (leave) begin
      d      = vacated(d);
      drop_o = 1'b1;
    end
    if (distrust) d.task_id = TaskNone;
    // What is being written over is nothing.
    if (d.state == StReconfig) d.task_id = TaskNone;
  end

  assign begin_reset = !couple_o || leave || d.task_id == TaskNone;
  assign timing_d    = d.state inside {StHold, StPreempt, StSwitch};
  assign clear_timer = d.state != q.state || !timing_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      q             <= '0;
      timer_q       <= '0;
      reset_q       <= '1;
      region_rst_no <= 1'b0;
    end else begin
      q       <= d;
      timer_q <= clear_timer ? '0 : timer_q + 1'b1;
      // A task starts from reset after every configuration, save and failure.
      if (begin_reset) reset_q <= '1;
      else reset_q <= {1'b0, reset_q[1]};
      region_rst_no <= !begin_reset && reset_q == '0;
    end
  end

  assign state_o          = q.state;
  assign client_valid_o   = q.client_valid;
  assign client_o         = q.client;
  assign task_o           = q.task_id;
  assign next_valid_o     = q.next_valid;
  assign next_o           = q.next;
  assign target_o         = q.target;
  assign couple_o         = q.state != StReconfig && q.task_id != TaskNone;
  assign stop_task_o      = q.state == StPreempt;
  assign save_o           = q.state == StSwitch && q.switching == SwSave;
  assign abort_o          = q.state == StSwitch && q.switching == SwAbort;
  assign hung_o           = (q.state == StPreempt || (q.state == StSwitch && !abort_o)) && timer_q >= stop_cycles_i;
  assign requeue_client_o = q.client;
  assign stopped_o        = leave || passed;

endmodule
