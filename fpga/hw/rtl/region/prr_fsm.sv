// SPDX-License-Identifier: Apache-2.0
// The state machine of one region: its client, its next client, the task that it holds. It moves no
// data; prr_run does, and reports events. An input pulse may arrive in any state; it is ignored
// where it has no meaning. Outputs that are named a pulse, and only these, follow from the inputs
// in the same cycle; all others are registers or decoded from registers.
module prr_fsm
  import fabric_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low. After it: Idle, no client, no task, decoupled, the task in reset.
  input  logic        rst_ni,
  // the monitor
  /// Pulse: allocate the region to this client, whose device needs this task.
  input  logic        alloc_i,
  input  client_t     alloc_client_i,
  input  task_t       alloc_task_i,
  /// Pulse: the client in Hold, Idle or Reconfig gives the region up.
  input  logic        cancel_i,
  /// Pulse: stop the job, save it, leave the region without a client.
  input  logic        stop_i,
  /// How long Hold waits for the client, in cycles.
  input  logic [31:0] hold_cycles_i,
  /// Limit for a task to stop, to save and to restore, in cycles.
  input  logic [31:0] stop_cycles_i,
  // prr_run
  /// Pulse: a new job starts.
  input  logic        begin_i,
  /// Pulse: a saved job is being restored.
  input  logic        restore_i,
  /// Pulse: the restored job runs.
  input  logic        restored_i,
  /// Pulse: the job is over, its output written.
  input  logic        over_i,
  /// Pulse: the task is stopped at a consistency point.
  input  logic        stopped_i,
  /// Pulse: its context is saved.
  input  logic        saved_i,
  /// No transaction of the region is outstanding or can start.
  input  logic        quiet_i,
  /// Pulse: the job failed.
  input  logic        fault_i,
  /// The reason, with fault_i. All but FaultDma and FaultBus mean that the task is no longer
  /// trusted, and the region is empty afterwards.
  input  fault_e      fault_why_i,
  // the ICAP
  /// Pulse: the region is configured.
  input  logic        cfg_done_i,
  /// Pulse: the configuration failed.
  input  logic        cfg_fail_i,
  // state
  output prr_state_e  state_o,
  /// The client that owns the region or, in Idle, was the last one to own it.
  output logic        client_valid_o,
  output client_t     client_o,
  /// The task that the region holds; TaskNone: it must be configured before a job.
  output task_t       task_o,
  /// Promised to another client.
  output logic        next_valid_o,
  output client_t     next_o,
  /// The task that Reconfig waits for.
  output task_t       target_o,
  /// Low: the region is decoupled.
  output logic        couple_o,
  /// Reset of the task, active low.
  output logic        region_rst_no,
  // requests to prr_run
  /// Level: stop the task at its next consistency point.
  output logic        stop_task_o,
  /// Level, during Switch: save the context.
  output logic        save_o,
  /// Level, during Switch: abort the job and drain the DMA.
  output logic        abort_o,
  /// Pulse: the task took longer than stop_cycles_i.
  output logic        hung_o,
  // events
  /// Pulse: disconnect the IF.
  output logic        drop_o,
  /// Pulse: this client lost the region and waits again.
  output logic        requeue_o,
  output client_t     requeue_client_o,
  /// Pulse: interrupt PRR Stopped.
  output logic        stopped_o,
  /// Pulse: Hold ended unused.
  output logic        expired_o
);

  // What Switch does. SwSave: the context goes to the buffer of the IF, until saved_i. SwRestore: a
  // saved context goes to the task, until restored_i. SwAbort: the job has failed, and its DMA
  // drains, until quiet_i.
  typedef enum logic [1:0] {SwSave, SwRestore, SwAbort} switch_e;

  typedef struct packed {
    // The state; `switching` has a meaning in StSwitch only.
    prr_state_e state;
    switch_e    switching;
    // The owner, or in StIdle the last one.
    logic       client_valid;
    client_t    client;
    // The client that owns the region when the present job has left.
    logic       next_valid;
    client_t    next;
    // The task that the region holds; the task that its owner, or the promised client, needs.
    task_t      task_id;
    task_t      target;
  } regs_t;

  regs_t d, q;
  // Cycles in the present state, in Hold, Preempt and Switch. It may wrap around during an abort
  // only, which has no limit.
  logic [31:0] timer_q;
  // Shifts right after begin_reset: the task stays in reset while a bit is set.
  logic [1:0] reset_q;
  // leave: the job leaves the region in this cycle. passed: the job is over in the cycle in which
  // the region is allocated. distrust: a fault after which the region counts as empty.
  logic timing_d, clear_timer, begin_reset, leave, passed, distrust, taken, again;

  // A wrong address is the VM's, and a bus error the memory's: neither says anything about the
  // task.
  assign distrust = fault_i && fault_why_i != FaultDma && fault_why_i != FaultBus;
  assign taken    = alloc_i;
  // The client of an idle region gets it again, and the region has its task.
  assign again    = q.client_valid && q.client.vm == alloc_client_i.vm
                    && q.client.dev == alloc_client_i.dev && d.state == StHold;

  // Allocates a region that has no job to a client.
  function automatic regs_t handed(regs_t from, client_t client, task_t wanted);
    regs_t to = from;
    to.client_valid = 1'b1;
    to.client       = client;
    to.next_valid   = 1'b0;
    to.target       = wanted;
    to.state        = from.task_id == wanted && wanted != TaskNone ? StHold : StReconfig;
    return to;
  endfunction

  // The job has left: hands the region to the promised client, or leaves it idle.
  function automatic regs_t vacated(regs_t from);
    regs_t to = from;
    if (from.next_valid) return handed(from, from.next, from.target);
    to.client_valid = 1'b0;
    to.state        = StIdle;
    return to;
  endfunction

  // Promises the region to a client while a job runs in it.
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
      // A fault without a job means that the task drove its outputs unasked.
      StIdle: begin
        if (fault_i) d.task_id = TaskNone;
        if (taken) begin
          d      = handed(d, alloc_client_i, alloc_task_i);
          drop_o = !again;  // a last client that gets the region again keeps its connection
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
        // A job that starts in the last cycle of Hold is in time.
        end else if (cancel_i || fault_i || (timer_q >= hold_cycles_i && !begin_i
                                             && !restore_i)) begin
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
      // The end of the job has priority over a stop: nothing is left to save.
      StBusy: begin
        if (fault_i) begin
          if (taken) d = promised(d, alloc_client_i, alloc_task_i);
          d.state     = StSwitch;
          d.switching = SwAbort;
        end else if (over_i) begin
          d.state = StIdle;
          if (taken) begin  // the monitor saw a running job and answered "preempt"
            d      = handed(d, alloc_client_i, alloc_task_i);
            drop_o = 1'b1;
            passed = 1'b1;
          end
        end else if (taken) d = promised(d, alloc_client_i, alloc_task_i);
        else if (stop_i) d.state = StPreempt;
      end
      // A task may finish instead of stopping; the region then changes its client without a save.
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
        // An abort ends when the DMA has drained; a fault during the drain changes nothing. A save
        // that is complete leaves the region: if another client was waiting for it, the saved
        // client waits again.
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
    // While it is being overwritten, a region holds no task.
    if (d.state == StReconfig) d.task_id = TaskNone;
  end

  // Three cycles of reset at least: two of reset_q, one of region_rst_no.
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
  // An abort has no limit of time: it waits for the memory, not for the task.
  assign hung_o           = (q.state == StPreempt || (q.state == StSwitch && !abort_o))
                            && timer_q >= stop_cycles_i;
  assign requeue_client_o = q.client;
  assign stopped_o        = leave || passed;

endmodule
