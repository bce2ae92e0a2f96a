// SPDX-License-Identifier: Apache-2.0
// Proves a region's state machine and its job sequencer together, for any behaviour of the task,
// the manager and the memory: a region without a job causes no bus traffic, a job writes only into
// its own client's IF, and the DMA is started only when it is quiet. It also proves what
// prr_fsm_props and the DMA's proofs assume about prr_run.
//
// Assumptions. DMA: quiet stays until the next start (dma_reader_props, dma_writer_props), and a
// quiet DMA reports no errors. Monitor: it allocates only idle, busy and held regions (prr_choice).
// Connection matrix: only the client is connected (conn_matrix_props).
module prr_run_props
  import fabric_pkg::*;
  import region_pkg::*;
(
  input logic clk_i,
  input logic alloc_i, cancel_i, stop_i, cfg_done_i, cfg_fail_i, connected_i, start_pending_i,
      ctx_saved_i,
  input client_t alloc_client_i,
  input task_t alloc_task_i,
  input logic [31:0] hold_cycles_i, stop_cycles_i,
  input region_rsp_t rsp_i,
  input word_t ram_data_i,
  input logic [29:0] taken_i, given_i,
  input logic reader_quiet_i, writer_quiet_i, dma_bad_i, dma_error_i, ram_gnt_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  prr_state_e state;
  logic client_valid, next_valid, couple, region_rst_n, stop_task, save, abort_job, hung, drop,
      requeue, stopped, expired;
  client_t client, next, requeue_client;
  task_t held, target;
  logic job_begin, job_restore, restored, over, job_stopped, saved, job_quiet, dma_done, fault,
      failed;
  fault_e why, failed_why;
  logic running, start_taken, stream_open;
  region_req_t req;
  region_rsp_t rsp;
  logic dma_go, dma_flush, reader_stop, writer_stop, ram_req, ram_we;
  word_t ram_data;
  logic [63:0] source, destination;
  logic [29:0] first_in, first_out, beats;
  if_addr_t ram_addr;

  // The DMA: once quiet, it stays quiet until the next start.
  logic reader_quiet, writer_quiet, reader_was_quiet, writer_was_quiet, was_go, was_open,
      was_draining, was_done, was_begun, bad, error;
  assign reader_quiet = reader_quiet_i || (reader_was_quiet && !was_go);
  assign writer_quiet = writer_quiet_i || (writer_was_quiet && !was_go && !was_open);
  assign bad          = dma_bad_i && !(reader_quiet && writer_quiet);
  assign error        = dma_error_i && !(reader_quiet && writer_quiet);

  prr_fsm fsm (
    .clk_i, .rst_ni(rst_n), .alloc_i(alloc_i && state inside {StIdle, StBusy, StHold}
                                     && alloc_task_i != TaskNone),
    .alloc_client_i, .alloc_task_i, .cancel_i, .stop_i, .hold_cycles_i, .stop_cycles_i,
    .begin_i(job_begin), .restore_i(job_restore), .restored_i(restored), .over_i(over),
    .stopped_i(job_stopped), .saved_i(saved), .quiet_i(job_quiet), .fault_i(fault),
    .fault_why_i(why), .cfg_done_i, .cfg_fail_i, .state_o(state), .client_valid_o(client_valid),
    .client_o(client), .task_o(held), .target_o(target), .next_valid_o(next_valid), .next_o(next),
    .couple_o(couple), .region_rst_no(region_rst_n), .stop_task_o(stop_task), .save_o(save),
    .abort_o(abort_job), .hung_o(hung), .drop_o(drop), .requeue_o(requeue),
    .requeue_client_o(requeue_client), .stopped_o(stopped), .expired_o(expired)
  );

  // The task after its gate: its outputs are 0 while decoupled (region_gate_props).
  always_comb begin
    rsp           = rsp_i;
    rsp.stopped   = rsp_i.stopped && couple;
    rsp.over      = rsp_i.over && couple;
    rsp.out_valid = rsp_i.out_valid && couple;
    rsp.ctx_ready = rsp_i.ctx_ready && couple;
    rsp.ctx_valid = rsp_i.ctx_valid && couple;
  end

  // A context word moves only when the region has seen ctx_ready.
  logic was_ready, was_ready_before, ctx_moved;
  always_ff @(posedge clk_i) begin
    was_ready        <= rst_n && req.ctx_ready;
    was_ready_before <= rst_n && was_ready;
  end
  assign ctx_moved = rsp.ctx_valid && was_ready_before;

  prr_run dut (
    .clk_i, .rst_ni(rst_n), .state_i(state), .client_i(client), .task_i(held), .couple_i(couple),
    .region_rst_ni(region_rst_n), .save_i(save), .abort_i(abort_job), .stop_task_i(stop_task),
    .hung_i(hung), .begin_o(job_begin), .restore_o(job_restore), .restored_o(restored),
    .over_o(over), .stopped_o(job_stopped), .saved_o(saved), .quiet_o(job_quiet),
    .dma_done_o(dma_done), .fault_o(fault), .fault_why_o(why), .failed_o(failed),
    .failed_why_o(failed_why), .connected_i(connected_i && client_valid), .start_pending_i,
    .ctx_saved_i, .running_o(running), .start_taken_o(start_taken), .req_o(req), .rsp_i(rsp),
    .ctx_moved_i(ctx_moved), .stream_open_o(stream_open), .dma_go_o(dma_go),
    .dma_flush_o(dma_flush), .reader_stop_o(reader_stop), .writer_stop_o(writer_stop),
    .source_o(source), .target_o(destination), .first_in_o(first_in), .first_out_o(first_out),
    .beats_o(beats), .taken_i, .given_i, .reader_quiet_i(reader_quiet),
    .writer_quiet_i(writer_quiet), .dma_bad_i(bad), .dma_error_i(error), .ram_req_o(ram_req),
    .ram_we_o(ram_we), .ram_addr_o(ram_addr), .ram_data_o(ram_data), .ram_gnt_i, .ram_data_i
  );

  // Phases of prr_run, with the same names.
  localparam logic [3:0] None = 4'd0, Begin = 4'd1, Load = 4'd2, Restore = 4'd3, Go = 4'd4,
                                Resume = 4'd5, Run = 4'd6,
                         Flush = 4'd7, Finish = 4'd8, Drain = 4'd9, Save = 4'd10, Abort = 4'd11;
  logic [3:0] phase;
  assign phase = dut.phase_q;

  // A job failed and is not over yet; the cause of the last fault.
  logic aborting;
  fault_e cause;
  always_ff @(posedge clk_i) begin
    aborting <= rst_n && ((aborting && !failed) || (fault && phase != None));
    if (fault) cause <= why;
  end

  logic keeps;
  assign keeps = ram_req && ram_addr.ctx && ram_addr.word >= 7'd120;

  // Whether the reader was stopped since the last start of the DMA; it must be before the next
  // start.
  logic reader_stopped, quiet_before;
  always_ff @(posedge clk_i) begin
    reader_was_quiet <= !rst_n || reader_quiet;
    writer_was_quiet <= !rst_n || writer_quiet;
    was_go           <= rst_n && dma_go;
    was_open         <= rst_n && stream_open;
    was_done         <= rst_n && dma_done;
    was_begun        <= rst_n && (job_begin || job_restore);
    was_draining     <= rst_n && aborting && !writer_quiet;
    reader_stopped   <= !rst_n || ((reader_stopped || reader_stop) && !dma_go);
    quiet_before     <= !rst_n || (reader_quiet && writer_quiet && !dma_go && !stream_open);
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // Without a job nothing moves: an idle, held or reconfiguring region has no traffic and no
      // open stream, and its task gets no command. Therefore the region is quiescent when a
      // bitstream or another client arrives.
      if (state inside {StIdle, StHold, StReconfig}) begin
        assert (reader_quiet && writer_quiet && !dma_go && !stream_open);
        assert (!req.start && !req.resume && !req.stop && !req.ctx_save && !req.ctx_restore
                && !req.ctx_ready);
        // the last word of an aborted restore, to a task in reset
        assert (!req.ctx_valid || !region_rst_n);
        assert (!(ram_req && ram_we));
      end
      // A decoupled region starts nothing new, even while it still drains, and the task is in
      // reset.
      if (!couple) assert (!dma_go && !stream_open && !req.start && !req.resume && !region_rst_n);
      // The job of a client reads and writes only that client's IF; of the registers it writes only
      // the results. A context is written only by a save and read only by a restore. The registers
      // that the job was started with are copied to the context buffer while the job runs,
      // completely before it is saved, and are loaded from there when it is resumed.
      if (ram_req) assert (client_valid && ram_addr.vm == client.vm && ram_addr.dev == client.dev);
      if (ram_req && ram_we && !ram_addr.ctx) assert (ram_addr.word == 7'd5 && phase == Finish);
      if (ram_req && ram_addr.ctx && !keeps) assert (state == StSwitch && !(ram_we && job_restore));
      // The context mover's FIFO has space for every word that arrives.
      if (dut.i_ctx.state_q == 3'd1 && ctx_moved) assert (dut.i_ctx.fifo_ready);
      if (dut.i_ctx.state_q == 3'd6 && dut.i_ctx.arrives_q) assert (dut.i_ctx.fifo_ready);
      if (keeps)
        assert (ram_we ? phase inside {Run, Drain} && !dut.kept : phase == Load && dut.resuming_q);
      if (ram_req && phase == Load) assert (keeps == dut.resuming_q);
      if (phase == Save) assert (dut.kept);
      // The DMA is started only after it has been quiet and its reader was stopped; a job is over,
      // saved or stopped only when the DMA is quiet.
      if (dma_go)
        assert (reader_quiet && writer_quiet && quiet_before && reader_stopped && !stream_open);
      if (over || saved || stopped) assert (reader_quiet && writer_quiet);
      // A failed job is over, for its guest, once, with the cause of the fault, and only when the
      // DMA is quiet: until then the client keeps the region.
      if (failed) assert (reader_quiet && writer_quiet && !dma_go && !stream_open && !over);
      assert (failed == (aborting && stopped));
      if (aborting) assert (client_valid && cause != FaultNone && failed_why == cause);
      // Quiet, as software reads it: the DMA is quiet and stays so until another job begins. It is
      // so without a job, and when a job is over, saved or failed.
      if (dma_done) assert (reader_quiet && writer_quiet && !dma_go && !stream_open);
      if (was_done && !was_begun) assert (dma_done);
      if (phase == None || over || saved || failed) assert (dma_done);
      // The assumptions of prr_fsm_props.
      if (job_begin || job_restore) assert (client_valid && couple && !(job_begin && job_restore));
      if (fault && state inside {StIdle, StHold, StReconfig}) assert (couple);
      assert ($onehot0({over, saved, job_stopped, restored}));

      // Invariants for the induction: the phases that are possible in each state.
      assert (aborting == abort_job);
      if (state inside {StIdle, StHold, StReconfig})
        assert (phase inside {None, Begin, Abort} && quiet_before);
      if (state == StBusy || state == StPreempt)
        assert (phase inside {Begin, Load, Go, Run, Flush, Finish});
      if (state == StPreempt) assert (phase != Begin);
      if (abort_job) assert (phase == Abort);
      else if (state == StSwitch && save) assert (phase inside {Drain, Save});
      else if (state == StSwitch) assert (phase inside {Begin, Load, Restore, Resume});
      if (state == StSwitch && !abort_job && !save || phase inside {Begin, Load, Go}
          || phase == Resume)
        assert (quiet_before && reader_stopped);
      assert (quiet_before == (reader_was_quiet && writer_was_quiet && !was_go && !was_open));
      if (phase inside {None, Begin}) assert (reader_stopped);
      if (phase inside {Load, Restore, Resume, Go}) assert (dut.resuming_q == (state == StSwitch));
      if (phase inside {Finish, Save}) assert (quiet_before && reader_stopped);
      if (state == StSwitch && phase == Begin) assert (dut.resuming_q);
      if (state == StBusy && phase == Begin) assert (!dut.resuming_q);
      if (state != StIdle) assert (client_valid);
      if (state inside {StBusy, StHold, StPreempt} || (state == StSwitch && !abort_job))
        assert (held != TaskNone);
      if (state == StReconfig) assert (held == TaskNone && target != TaskNone);
      if (next_valid) assert (state inside {StPreempt, StSwitch} && target != TaskNone);
      if (save) assert (state == StSwitch);
      if (state == StSwitch && !abort_job && !save) assert (!next_valid);
      assert (state <= StHold && fsm.q.switching != 2'd3);
      if (req.ctx_valid) assert (phase inside {Restore, Abort});
      if (phase == Abort && state != StSwitch) assert (!region_rst_n);
      assert (dut.kept_q <= 4'd8 && dut.i_ctx.word_q <= 7'd118);
      if (dut.i_ctx.state_q inside {3'd4, 3'd5}) assert (dut.i_ctx.word_q == '0);
      if (dut.i_ctx.state_q inside {3'd5, 3'd6}) assert (dut.i_ctx.total_q <= 7'd118);
      if (dut.i_ctx.state_q == 3'd6) assert (dut.i_ctx.word_q <= dut.i_ctx.total_q);
      if (dut.i_ctx.state_q == 3'd1)
        assert (4'(dut.i_ctx.ahead) + 4'(was_ready) + 4'(was_ready_before) <= 4'd4);
      if (dut.i_ctx.state_q == 3'd6) assert (4'(dut.i_ctx.ahead) + 4'(dut.i_ctx.arrives_q) <= 4'd4);
      // The context mover is off except in these phases; after an abort it stops a cycle later.
      if (phase == Save) assert (dut.i_ctx.state_q inside {3'd1, 3'd2, 3'd3});
      if (phase == Restore) assert (dut.i_ctx.state_q inside {3'd4, 3'd5, 3'd6, 3'd7});
      if (!(phase inside {Save, Restore, Abort})) assert (dut.i_ctx.state_q == 3'd0);
      if (phase == Abort && state != StSwitch) assert (dut.i_ctx.state_q == 3'd0);
    end
    cover (rst_n && state == StHold && phase == Abort);
    cover (rst_n && failed && was_draining);
    cover (rst_n && save && next_valid);
    cover (rst_n && restored);
  end
endmodule
