// SPDX-License-Identifier: Apache-2.0
// Runs a job in a region: loads the IF's registers, starts or restores the task, lets it run,
// drains the streams, saves or finishes the job. It reports events to prr_fsm, which decides. The
// task is not trusted: after every fault the region becomes quiescent.
module prr_run
  import fabric_pkg::*;
  import region_pkg::*;
  import fabric_map_pkg::*;
  import if_page_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; no job after it.
  input  logic        rst_ni,
  // prr_fsm
  /// State, client and task of the region, as registered by prr_fsm.
  input  prr_state_e  state_i,
  input  client_t     client_i,
  input  task_t       task_i,
  /// High: the region is coupled, so rsp_i is what the task drives.
  input  logic        couple_i,
  /// Low while the task is in reset.
  input  logic        region_rst_ni,
  /// Level: save the context of the stopped task.
  input  logic        save_i,
  /// Level: abort the job and drain the DMA.
  input  logic        abort_i,
  /// Level: request a stop at the next consistency point.
  input  logic        stop_task_i,
  /// Pulse: the task exceeded the stop time.
  input  logic        hung_i,
  /// Pulse: a new job starts. In the next cycle prr_fsm is in Busy, or the monitor has given the
  /// region away and the job does not start.
  output logic        begin_o,
  /// Pulse: the restore of a saved job starts.
  output logic        restore_o,
  /// Pulse: the restored job runs.
  output logic        restored_o,
  /// Pulse: the job is over, its output written.
  output logic        over_o,
  /// Pulse: the task is stopped at a consistency point.
  output logic        stopped_o,
  /// Pulse: the context is saved.
  output logic        saved_o,
  /// No job, and no DMA transaction outstanding.
  output logic        quiet_o,
  /// Level: no DMA transaction is outstanding, and the present job starts none.
  output logic        dma_done_o,
  /// Pulse: the job failed; bursts that were announced are still outstanding.
  output logic        fault_o,
  /// The reason, with fault_o; of several in one cycle the one with the highest priority below.
  output fault_e      fault_why_o,
  /// Pulse: the failed job is over, none of its bursts is outstanding; and why it failed.
  output logic        failed_o,
  output fault_e      failed_why_o,
  // the IF
  /// Level: the IF of the region's client is connected and is not being disconnected.
  input  logic        connected_i,
  /// Flags of that IF: a START waits; its job was saved and has to be resumed, which goes first.
  input  logic        start_pending_i,
  input  logic        ctx_saved_i,
  /// A job of the IF is in the region.
  output logic        running_o,
  /// Pulse: the pending START was consumed.
  output logic        start_taken_o,
  // the region, after the gate
  /// Control and context; prr_slot adds the streams, which are 0 here.
  output region_req_t req_o,
  input  region_rsp_t rsp_i,
  /// rsp_i has a context word, and the region saw ctx_ready with it.
  input  logic        ctx_moved_i,
  /// Level: beats may move between DMA and task.
  output logic        stream_open_o,
  // the DMA
  /// Pulse, a cycle before the task gets start or resume through the gate: the DMA starts with the
  /// addresses and counts below, which are stable until the next load.
  output logic        dma_go_o,
  /// Levels: the writer sends also what does not fill a burst; the reader issues nothing more and
  /// discards; the writer announces nothing more and discards.
  output logic        dma_flush_o,
  output logic        reader_stop_o,
  output logic        writer_stop_o,
  /// Guest-physical addresses of input and output.
  output logic [63:0] source_o,
  output logic [63:0] target_o,
  /// Beats to skip, nonzero after a resume.
  output logic [29:0] first_in_o,
  output logic [29:0] first_out_o,
  /// Input beats of the whole job.
  output logic [29:0] beats_o,
  /// Beats that the task has consumed and produced.
  input  logic [29:0] taken_i,
  input  logic [29:0] given_i,
  input  logic        reader_quiet_i,
  input  logic        writer_quiet_i,
  /// Pulse: the guard refused an address.
  input  logic        dma_bad_i,
  /// Pulse: the memory system answered with an error.
  input  logic        dma_error_i,
  /// The memory of the IF pages: a request stays until ram_gnt_i, which may come in the same cycle;
  /// data are valid in the cycle after the grant.
  output logic        ram_req_o,
  output logic        ram_we_o,
  output if_addr_t    ram_addr_o,
  output word_t       ram_data_o,
  input  logic        ram_gnt_i,
  input  word_t       ram_data_i
);

  // A job passes PhBegin, PhLoad, PhGo (or PhRestore and PhResume), PhRun, and ends with PhFlush
  // and PhFinish, or with PhDrain and PhSave, or with PhAbort. PhFlush and PhDrain wait until the
  // DMA is quiet.
  typedef enum logic [3:0] {
    PhNone, PhBegin, PhLoad, PhRestore, PhGo, PhResume, PhRun, PhFlush, PhFinish, PhDrain, PhSave,
        PhAbort
  } phase_e;

  // The words of the IF that are loaded: those of CMD, DATA_ADDR, DATA_SIZE and RESULT, and the
  // custom registers in pairs.
  localparam int unsigned LoadWords = CtxJobWords;
  localparam if_word_t CustomAt = if_word(IfCustom);
  localparam if_word_t [LoadWords-1:0] LoadWord = {
    CustomAt + 4'd3, CustomAt + 4'd2, CustomAt + 4'd1, CustomAt,
    if_word(IfResult), if_word(IfDataSize), if_word(IfDataAddr), if_word(IfCmd)
  };
  localparam int unsigned CmdAt = if_lsb(IfCmd);
  localparam int unsigned SizeAt = if_lsb(IfDataSize);

  // Copies of these words at the end of the context buffer, for resuming: by then the guest may
  // have written the registers of its next job.
  localparam logic [6:0] KeptAt = 7'(CtxBufferWords - CtxJobWords);

  phase_e phase_q;
  logic resuming_q, arrives_q, load_req, loaded, may_begin, quiet;
  logic [3:0] asked_q, came_q, kept_q;
  logic keep_req, kept;
  word_t keeping;
  // The task's status word, of the last cycle of PhRun.
  logic [31:0] result_q;
  logic ctx_start_save, ctx_start_restore, ctx_done, ctx_bad, ctx_req, ctx_we;
  logic [6:0] ctx_word;
  word_t ctx_ram_data;
  logic [29:0] ctx_taken, ctx_given;
  // The task drives outputs without a job, or violates the interface during one.
  logic rogue_idle, rogue_running, waking_q, is_stopped;
  logic start, resume, stop, ctx_save, ctx_restore, ctx_valid, ctx_ready;
  logic [31:0] cmd_q, size_q;
  custom_t custom_q;
  word_t ctx_data;

  assign quiet     = reader_quiet_i && writer_quiet_i;
  // A task in reset could not take a start.
  assign may_begin = phase_q == PhNone && connected_i && couple_i && region_rst_ni
                     && (state_i == StIdle || state_i == StHold);
  assign restore_o = may_begin && ctx_saved_i;
  assign begin_o   = may_begin && !ctx_saved_i && start_pending_i;
  assign loaded    = came_q == 4'(LoadWords);

  // Faults in ascending priority. A task in reset cannot cause a fault.
  assign rogue_idle    = couple_i && region_rst_ni && phase_q == PhNone
                         && (rsp_i.out_valid || rsp_i.over || rsp_i.stopped || rsp_i.ctx_valid);
  assign rogue_running = phase_q == PhRun
                         && (rsp_i.ctx_valid || (rsp_i.over && rsp_i.stopped)
                             || (is_stopped && !stop_task_i));
  always_comb begin
    fault_why_o = FaultNone;
    if (dma_error_i) fault_why_o = FaultBus;
    if (dma_bad_i) fault_why_o = FaultDma;
    if (hung_i) fault_why_o = FaultHung;
    if (rogue_idle || rogue_running) fault_why_o = FaultRogue;
    if (ctx_bad) fault_why_o = FaultContext;
    if (phase_q == PhAbort || abort_i) fault_why_o = FaultNone;
  end
  assign fault_o = fault_why_o != FaultNone;

  // A resumed task is stopped until the resume has reached it and its response has come back.
  assign is_stopped = rsp_i.stopped && !waking_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waking_q <= 1'b0;
    else waking_q <= phase_q == PhResume || (waking_q && phase_q == PhRun && rsp_i.stopped);
  end

  // The guest may reuse the job's buffers when the job is over, so a failed job is over only when
  // the DMA is drained.
  assign failed_o = abort_i && quiet_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) failed_why_o <= FaultNone;
    else if (fault_o) failed_why_o <= fault_why_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q    <= PhNone;
      resuming_q <= 1'b0;
      result_q   <= '0;
    end else if (abort_i || (fault_o && phase_q != PhNone)) begin
      phase_q <= PhAbort;
    end else begin
      unique case (phase_q)
        PhNone: if (begin_o || restore_o) begin
          phase_q    <= PhBegin;
          resuming_q <= restore_o;
        end
        // The monitor may have allocated the region to another client in the same cycle.
        PhBegin: phase_q <= state_i == (resuming_q ? StSwitch : StBusy) || state_i == StPreempt
                            ? PhLoad : PhNone;
        PhLoad: if (loaded) phase_q <= resuming_q ? PhRestore : PhGo;
        PhRestore: if (ctx_done) phase_q <= PhResume;
        PhGo, PhResume: phase_q <= PhRun;
        PhRun: begin
          result_q <= rsp_i.result;
          if (rsp_i.over) phase_q <= PhFlush;
          else if (stop_task_i && is_stopped) phase_q <= PhDrain;
        end
        PhFlush: if (quiet) phase_q <= PhFinish;
        PhFinish: if (ram_gnt_i) phase_q <= PhNone;
        PhDrain: if (quiet && save_i && kept) phase_q <= PhSave;
        PhSave: if (ctx_done) phase_q <= PhNone;
        default: phase_q <= PhNone;  // PhAbort: prr_fsm has left Switch
      endcase
    end
  end

  assign req_o = '{start: start, resume: resume, stop: stop, cmd: cmd_q, size: size_q,
                   custom: custom_q, ctx_save: ctx_save, ctx_restore: ctx_restore,
                   ctx_data: ctx_data, ctx_valid: ctx_valid, ctx_ready: ctx_ready, default: '0};

  assign running_o     = !(phase_q inside {PhNone, PhBegin});
  // START is consumed only when the job is certain: prr_fsm has left Idle or Hold with it.
  assign start_taken_o = phase_q == PhBegin && !resuming_q
                         && (state_i == StBusy || state_i == StPreempt);
  assign start         = phase_q == PhGo;
  assign resume        = phase_q == PhResume;
  assign restored_o    = phase_q == PhResume;
  assign stop          = phase_q == PhRun && stop_task_i;
  assign stream_open_o = phase_q == PhRun;
  assign over_o        = phase_q == PhFinish && ram_gnt_i && !fault_o;
  assign stopped_o     = phase_q == PhRun && stop_task_i && is_stopped && !rsp_i.over;
  assign saved_o       = phase_q == PhSave && ctx_done;
  assign quiet_o       = quiet && phase_q inside {PhNone, PhAbort};
  assign dma_done_o    = quiet && !(phase_q inside {PhBegin, PhLoad, PhRestore, PhGo, PhResume,
                                                    PhRun});

  assign dma_go_o      = start || resume;
  assign dma_flush_o   = phase_q inside {PhFlush, PhDrain};
  assign reader_stop_o = phase_q inside {PhFlush, PhDrain, PhAbort};
  assign writer_stop_o = phase_q == PhAbort;
  assign first_in_o    = resuming_q ? ctx_taken : '0;
  assign first_out_o   = resuming_q ? ctx_given : '0;
  // DATA_SIZE is in bytes; a part of a beat counts as a beat.
  assign beats_o       = size_q[31:3] + 30'(|size_q[2:0]);

  // Loading: one word a cycle, when the memory grants it.
  assign load_req = phase_q == PhLoad && asked_q != 4'(LoadWords);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q   <= '0;
      came_q    <= '0;
      arrives_q <= 1'b0;
      cmd_q     <= '0;
      size_q    <= '0;
      custom_q  <= '0;
      source_o  <= '0;
      target_o  <= '0;
    end else begin
      arrives_q <= load_req && ram_gnt_i;
      if (phase_q != PhLoad) begin
        asked_q <= '0;
        came_q  <= '0;
      end else begin
        if (load_req && ram_gnt_i) asked_q <= asked_q + 1'b1;
        if (arrives_q) came_q <= came_q + 1'b1;
      end
      if (arrives_q) begin
        unique case (came_q[2:0])
          3'd0: cmd_q <= ram_data_i[CmdAt+:32];
          3'd1: source_o <= ram_data_i;
          3'd2: size_q <= ram_data_i[SizeAt+:32];
          3'd3: target_o <= ram_data_i;
          default: custom_q[{came_q[1:0], 1'b0}+:2] <= ram_data_i;
        endcase
      end
    end
  end

  // Keeping the loaded words in the context buffer, while the task runs and the memory is free.
  assign kept     = kept_q == 4'(LoadWords);
  assign keep_req = phase_q inside {PhRun, PhDrain} && !kept;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= '0;
    else if (phase_q == PhGo) kept_q <= '0;
    else if (phase_q == PhResume) kept_q <= 4'(LoadWords);
    else if (keep_req && ram_gnt_i) kept_q <= kept_q + 1'b1;
  end
  always_comb begin
    unique case (kept_q[2:0])
      3'd0: keeping = 64'(cmd_q) << CmdAt;
      3'd1: keeping = source_o;
      3'd2: keeping = 64'(size_q) << SizeAt;
      3'd3: keeping = target_o;
      default: keeping = custom_q[{kept_q[1:0], 1'b0}+:2];
    endcase
  end

  assign ctx_start_save    = phase_q == PhDrain && quiet && save_i && kept;
  assign ctx_start_restore = phase_q == PhLoad && loaded && resuming_q;

  ctx_mover i_ctx (
    .clk_i, .rst_ni, .save_i(ctx_start_save), .restore_i(ctx_start_restore),
    .abort_i(abort_i || phase_q == PhAbort), .task_i, .taken_i, .given_i, .done_o(ctx_done),
    .bad_o(ctx_bad), .taken_o(ctx_taken), .given_o(ctx_given), .ctx_save_o(ctx_save),
    .ctx_restore_o(ctx_restore), .stopped_i(rsp_i.stopped), .ctx_data_o(ctx_data),
    .ctx_valid_o(ctx_valid), .ctx_ready_i(rsp_i.ctx_ready), .ctx_data_i(rsp_i.ctx_data),
    .ctx_moved_i, .ctx_last_i(rsp_i.ctx_last), .ctx_ready_o(ctx_ready), .ram_req_o(ctx_req),
    .ram_we_o(ctx_we), .ram_word_o(ctx_word), .ram_data_o(ctx_ram_data),
    .ram_gnt_i(ram_gnt_i && ctx_req), .ram_data_i
  );

  // One memory port for four users: loading, keeping, finishing, the context.
  always_comb begin
    ram_addr_o = '{ctx: ctx_req, vm: client_i.vm, dev: client_i.dev, word: ctx_word};
    ram_req_o  = ctx_req;
    ram_we_o   = ctx_we;
    ram_data_o = ctx_ram_data;
    if (load_req) begin
      ram_req_o       = 1'b1;
      ram_we_o        = 1'b0;
      ram_addr_o.ctx  = resuming_q;
      ram_addr_o.word = resuming_q ? KeptAt + 7'(asked_q) : 7'(LoadWord[asked_q[2:0]]);
    end else if (keep_req) begin
      ram_req_o       = 1'b1;
      ram_we_o        = 1'b1;
      ram_addr_o.ctx  = 1'b1;
      ram_addr_o.word = KeptAt + 7'(kept_q);
      ram_data_o      = keeping;
    end else if (phase_q == PhFinish) begin
      ram_req_o       = 1'b1;
      ram_we_o        = 1'b1;
      ram_addr_o.word = 7'(if_word(IfDoneSize));
      ram_data_o      = '0;
      ram_data_o[if_lsb(IfDoneSize)+:32] = {given_i[28:0], 3'b0};
      ram_data_o[if_lsb(IfDoneCode)+:32] = result_q;
    end
  end

  // The results are written as one word, and the custom registers are loaded in pairs.
  if (if_word(IfDoneSize) != if_word(IfDoneCode) || if_writable(if_word(IfDoneSize)) != '0
      || IfCustom % 8 != 0 || IfCustomStride != 4) begin : gen_check
    $error("DONE_SIZE and DONE_CODE need a word of their own, CUSTOM 8-byte alignment, no gaps");
  end

  logic unused;
  assign unused = &{1'b0, client_i.prio, given_i[29], rsp_i};

endmodule
