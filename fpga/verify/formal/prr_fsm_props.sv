// SPDX-License-Identifier: Apache-2.0
// Proves a region's state machine for any behaviour of prr_run, the monitor and the manager: see
// each assertion. The only assumption about prr_run is that it is quiet while it has no job;
// prr_run_props proves that.
module prr_fsm_props
  import fabric_pkg::*;
(
  input logic clk_i,
  input logic alloc_i, cancel_i, stop_i, begin_i, restore_i, restored_i, over_i, stopped_i, saved_i,
      quiet_i, fault_i,
  input logic cfg_done_i, cfg_fail_i,
  input client_t alloc_client_i,
  input task_t alloc_task_i,
  input logic [31:0] hold_cycles_i, stop_cycles_i,
  input fault_e fault_why_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  prr_state_e state;
  logic client_valid, next_valid, couple, region_rst_n, stop_task, save, abort_job, hung, drop,
      requeue, stopped, expired;
  client_t client, next, requeue_client;
  task_t held, target;

  // The monitor allocates only what prr_choice chooses (proven there): idle, busy or held regions,
  // and real tasks.
  logic alloc;
  assign alloc = alloc_i && state inside {StIdle, StBusy, StHold} && alloc_task_i != TaskNone;

  // prr_run starts a job only for a connected client, and reports no fault of a decoupled region.
  logic job_begin, job_restore, fault;
  assign job_begin   = begin_i && client_valid && couple;
  assign job_restore = restore_i && client_valid && couple && !begin_i;
  assign fault       = fault_i && couple;

  prr_fsm dut (
    .clk_i, .rst_ni(rst_n), .alloc_i(alloc), .alloc_client_i, .alloc_task_i, .cancel_i, .stop_i,
    .hold_cycles_i, .stop_cycles_i, .begin_i(job_begin), .restore_i(job_restore), .restored_i,
    .over_i, .stopped_i, .saved_i, .quiet_i, .fault_i(fault), .fault_why_i, .cfg_done_i,
    .cfg_fail_i, .state_o(state), .client_valid_o(client_valid), .client_o(client), .task_o(held),
    .next_valid_o(next_valid), .next_o(next), .target_o(target), .couple_o(couple),
    .region_rst_no(region_rst_n), .stop_task_o(stop_task), .save_o(save), .abort_o(abort_job),
    .hung_o(hung), .drop_o(drop), .requeue_o(requeue), .requeue_client_o(requeue_client),
    .stopped_o(stopped), .expired_o(expired)
  );

  prr_state_e was_state;
  logic was_valid, was_requeue, was_drop, was_next_valid, was_over, was_expired, was_cancel,
      was_fault, was_cfg_fail;
  logic was_alloc, was_stopped;
  client_t was_client, was_next, was_alloc_client;
  logic past = 1'b0;
  always_ff @(posedge clk_i) begin
    past             <= rst_n;
    was_state        <= state;
    was_valid        <= client_valid;
    was_client       <= client;
    was_next_valid   <= next_valid;
    was_next         <= next;
    was_requeue      <= requeue;
    was_drop         <= drop;
    was_over         <= over_i;
    was_expired      <= expired;
    was_cancel       <= cancel_i;
    was_fault        <= fault;
    was_cfg_fail     <= cfg_fail_i;
    was_alloc        <= alloc;
    was_alloc_client <= alloc_client_i;
    was_stopped      <= stopped;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // A decoupled region has no job and no access to the bus: Reconfig is entered only when no
      // job runs, and an empty region is not coupled.
      assert (state <= StHold);
      assert (!(state == StReconfig && couple));
      assert (!(held == TaskNone && couple));
      assert (state != StReconfig || held == TaskNone);
      // Hold, Busy and Preempt have a task and a client; a promise is kept only for a real task.
      if (state inside {StHold, StBusy}) assert (held != TaskNone);
      if (state == StPreempt || (state == StSwitch && !abort_job)) assert (held != TaskNone);
      if (state == StSwitch && !abort_job && !save) assert (!next_valid);  // restoring
      if (state != StIdle) assert (client_valid);
      if (next_valid) assert (state inside {StPreempt, StSwitch} && target != TaskNone);
      if (state == StReconfig) assert (target != TaskNone);
      if (save) assert (state == StSwitch);
      // A client whose job is saved for another client, or whose held region is taken, waits again.
      if (save && saved_i && !fault && next_valid) assert (requeue && requeue_client == client);
      if (state == StHold && alloc) assert (requeue && requeue_client == client);
      if (stop_task) assert (state == StPreempt);
    end
    if (rst_n && past) begin
      // A client that lost its region was notified: the job is over or stopped, the client waits
      // again or cancelled, Hold expired, or the region failed.
      if (was_valid && (!client_valid || client != was_client) && was_state != StIdle)
        assert (was_requeue || was_over || was_stopped || was_cancel || was_expired || was_fault
                || was_cfg_fail);
      // The client that was promised a region gets it, and no other.
      if (was_next_valid && !next_valid) assert (client_valid && client == was_next && was_stopped);
      if (was_next_valid && next_valid) assert (next == was_next);
      // A client that is allocated the region has it at once, or has the promise of it.
      if (was_alloc)
        assert ((client_valid && client == was_alloc_client)
                || (next_valid && next == was_alloc_client));
      // A client that is allocated a busy region was answered "preempt", and waits for PRR Stopped.
      if (was_alloc && was_state == StBusy) assert (next_valid || was_stopped);
      // A connection ends when the client loses the region.
      if (was_valid && (!client_valid || client.vm != was_client.vm || client.dev != was_client.dev)
          && was_state != StReconfig) assert (was_drop);
      // Reconfig is entered only after a job has just ended, was saved, or was aborted and drained.
      if (state == StReconfig && was_state == StSwitch) assert (was_stopped);
      if (state == StReconfig && was_state == StPreempt) assert (was_over);
    end
    cover (rst_n && past && state == StReconfig && was_state == StSwitch);
    cover (rst_n && state == StBusy && was_state == StSwitch);
    cover (rst_n && past && was_alloc && was_state == StBusy && was_stopped);
  end
endmodule
