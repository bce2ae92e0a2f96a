// SPDX-License-Identifier: Apache-2.0
// The static side of one region: state machine, job sequencer, DMA, gate, as fabric_top
// instantiates it for each region. It connects them; it also selects between the two requesters of
// the guard, and counts the input that the task has consumed. The contracts of the ports are those
// of the blocks that they lead to.
module prr_slot
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low. After it the region is Idle, empty and decoupled, its task in reset.
  input  logic        rst_ni,
  /// Monitor and manager, to prr_fsm: pulses, ignored in a state in which they have no meaning.
  input  logic        alloc_i,
  input  client_t     alloc_client_i,
  input  task_t       alloc_task_i,
  input  logic        cancel_i,
  input  logic        stop_cmd_i,
  /// Limits of Hold, and of a stop, a save and a restore, in cycles.
  input  logic [31:0] hold_cycles_i,
  input  logic [31:0] stop_cycles_i,
  /// Pulse: the configuration of this region has ended, well or not.
  input  logic        cfg_done_i,
  input  logic        cfg_fail_i,
  /// The region's descriptor, from registers.
  output prr_state_e  state_o,
  output logic        client_valid_o,
  output client_t     client_o,
  output task_t       held_task_o,
  output task_t       target_o,
  output logic        next_valid_o,
  output client_t     next_o,
  /// No DMA transaction is outstanding, and the present job starts none.
  output logic        quiet_o,
  /// Low: decoupled; what the region drives is ignored.
  output logic        couple_o,
  /// Pulses: disconnect the IF; the client lost the region and waits again; the region has been
  /// left by a job that was to stop; Hold expired.
  output logic        drop_o,
  output logic        requeue_o,
  output client_t     requeue_client_o,
  output logic        stopped_o,
  output logic        expired_o,
  /// Pulse, with the reason: the job failed, or the task drove its outputs without a job. failed_o
  /// follows when the DMA of the job has drained.
  output logic        fault_o,
  output fault_e      fault_why_o,
  output logic        failed_o,
  output fault_e      failed_why_o,
  /// The connected IF: level, see conn_matrix.stays_o; its pending START; its saved job.
  input  logic        connected_i,
  input  logic        start_pending_i,
  input  logic        ctx_saved_i,
  /// Level: a job of the IF is in the region. The pulses below change the IF's flags: START
  /// consumed, job over, context saved, job restored.
  output logic        running_o,
  output logic        start_taken_o,
  output logic        over_o,
  output logic        saved_o,
  output logic        restored_o,
  /// IF memory: a request stays until the grant; read data are valid in the cycle after it.
  output logic        ram_req_o,
  output logic        ram_we_o,
  output if_addr_t    ram_addr_o,
  output word_t       ram_data_o,
  input  logic        ram_gnt_i,
  input  word_t       ram_data_i,
  /// Guard: a request stays until check_gnt_i, or is withdrawn when the job ends; the answer,
  /// check_ok_i with the host-physical address or check_bad_i, comes in the cycle after the grant.
  output logic        check_o,
  output dma_check_t  check_request_o,
  input  logic        check_gnt_i,
  input  logic        check_ok_i,
  input  logic        check_bad_i,
  input  addr_t       check_addr_i,
  /// Memory: AXI4 with one ID. R and B are always accepted.
  output slot_req_t   axi_req_o,
  input  slot_resp_t  axi_resp_i,
  /// The region: its reset, active low and registered; request and response, a register each.
  output logic        region_rst_no,
  output region_req_t region_req_o,
  input  region_rsp_t region_rsp_i
);

  // The boundary: a request and a response take a cycle each.
  // req and rsp: as the static side sees them, a cycle before and after the region.
  region_req_t req;
  region_rsp_t rsp;
  logic out_moved, ctx_moved;
  region_gate i_gate (
    .clk_i,
    .rst_ni,
    .couple_i(couple_o),
    .req_i(req),
    .req_o(region_req_o),
    .rsp_i(region_rsp_i),
    .rsp_o(rsp),
    .out_moved_o(out_moved),
    .ctx_moved_o(ctx_moved)
  );

  // Events of prr_run and requests of prr_fsm; prr_fsm alone decides what happens to the region.
  logic job_begin, job_restore, job_stopped, job_quiet, stop_task, save, abort, hung;

  prr_fsm i_fsm (
    .clk_i,
    .rst_ni,
    .alloc_i,
    .alloc_client_i,
    .alloc_task_i,
    .cancel_i,
    .stop_i(stop_cmd_i),
    .hold_cycles_i,
    .stop_cycles_i,
    .begin_i(job_begin),
    .restore_i(job_restore),
    .restored_i(restored_o),
    .over_i(over_o),
    .stopped_i(job_stopped),
    .saved_i(saved_o),
    .quiet_i(job_quiet),
    .fault_i(fault_o),
    .fault_why_i(fault_why_o),
    .cfg_done_i,
    .cfg_fail_i,
    .state_o,
    .client_valid_o,
    .client_o,
    .task_o(held_task_o),
    .target_o,
    .next_valid_o,
    .next_o,
    .couple_o,
    .region_rst_no,
    .stop_task_o(stop_task),
    .save_o(save),
    .abort_o(abort),
    .hung_o(hung),
    .drop_o,
    .requeue_o,
    .requeue_client_o,
    .stopped_o,
    .expired_o
  );

  // prr_run controls both directions of the DMA; a job's addresses and counts are stable while it
  // runs.
  logic stream_open, dma_go, dma_flush, reader_stop, writer_stop, reader_quiet, writer_quiet;
  logic reader_error, writer_error, dma_bad;
  // Guest-physical addresses of input and output. Beats of the job: the first ones to read and to
  // write, all of its input, those read, those that the task has consumed and has produced.
  logic [63:0] source, target;
  logic [29:0] first_in, first_out, beats, fetched, taken, given;
  region_req_t run_req;

  prr_run i_run (
    .clk_i,
    .rst_ni,
    .state_i(state_o),
    .client_i(client_o),
    .task_i(held_task_o),
    .couple_i(couple_o),
    .region_rst_ni(region_rst_no),
    .save_i(save),
    .abort_i(abort),
    .stop_task_i(stop_task),
    .hung_i(hung),
    .begin_o(job_begin),
    .restore_o(job_restore),
    .restored_o,
    .over_o,
    .stopped_o(job_stopped),
    .saved_o,
    .quiet_o(job_quiet),
    .dma_done_o(quiet_o),
    .fault_o,
    .fault_why_o,
    .failed_o,
    .failed_why_o,
    .connected_i,
    .start_pending_i,
    .ctx_saved_i,
    .running_o,
    .start_taken_o,
    .req_o(run_req),
    .rsp_i(rsp),
    .ctx_moved_i(ctx_moved),
    .stream_open_o(stream_open),
    .dma_go_o(dma_go),
    .dma_flush_o(dma_flush),
    .reader_stop_o(reader_stop),
    .writer_stop_o(writer_stop),
    .source_o(source),
    .target_o(target),
    .first_in_o(first_in),
    .first_out_o(first_out),
    .beats_o(beats),
    .taken_i(taken),
    .given_i(given),
    .reader_quiet_i(reader_quiet),
    .writer_quiet_i(writer_quiet),
    .dma_bad_i(dma_bad),
    .dma_error_i(reader_error || writer_error),
    .ram_req_o,
    .ram_we_o,
    .ram_addr_o,
    .ram_data_o,
    .ram_gnt_i,
    .ram_data_i
  );

  // One check at a time; the writer has priority, because a full output FIFO stalls the task.
  logic reader_check, writer_check, asked_write_q;
  logic [63:0] reader_addr, writer_addr;
  beats_t reader_beats, writer_beats;
  assign check_o         = reader_check || writer_check;
  // The VM comes from the region's client: neither the task nor the guest can choose it.
  assign check_request_o = '{vm: client_o.vm, write: writer_check, addr: writer_check ? writer_addr
                             : reader_addr, beats: writer_check ? writer_beats : reader_beats};
  assign dma_bad         = check_bad_i;
  // Whose check the guard answers in this cycle.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_write_q <= 1'b0;
    else asked_write_q <= writer_check;
  end

  // The request is prr_run's, with the streams of the DMA.
  logic reader_valid, reader_ready, reader_last, send, writer_ready;
  word_t reader_data;
  always_comb begin
    req           = run_req;
    req.in_data   = reader_data;
    req.in_valid  = send;
    req.in_last   = reader_last;
    req.out_ready = writer_ready;
  end

  // A job that continues later reads again what its task has not taken.
  input_count_t unused_beats;
  assign taken = fetched - 30'(unused_beats);

  region_feed i_feed (
    .clk_i,
    .rst_ni,
    .go_i(dma_go),
    .open_i(stream_open),
    .valid_i(reader_valid),
    .ready_o(reader_ready),
    .valid_o(send),
    .taken_i(rsp.in_ready),
    .unused_o(unused_beats)
  );

  // The reader is granted only when the writer does not ask.
  dma_reader i_reader (
    .clk_i,
    .rst_ni,
    .go_i(dma_go),
    .stop_i(reader_stop),
    .base_i(source),
    .first_i(first_in),
    .beats_i(beats),
    .quiet_o(reader_quiet),
    .error_o(reader_error),
    .taken_o(fetched),
    .check_o(reader_check),
    .check_addr_o(reader_addr),
    .check_beats_o(reader_beats),
    .check_gnt_i(check_gnt_i && !writer_check),
    .ok_i(check_ok_i && !asked_write_q),
    .bad_i(check_bad_i && !asked_write_q),
    .addr_i(check_addr_i),
    .data_o(reader_data),
    .valid_o(reader_valid),
    .last_o(reader_last),
    .ready_i(reader_ready),
    .ar_o(axi_req_o.ar),
    .ar_valid_o(axi_req_o.ar_valid),
    .ar_ready_i(axi_resp_i.ar_ready),
    .r_i(axi_resp_i.r),
    .r_valid_i(axi_resp_i.r_valid),
    .r_ready_o(axi_req_o.r_ready)
  );

  // An output beat counts as moved when the region saw ready with it, two cycles after
  // writer_ready.
  dma_writer i_writer (
    .clk_i,
    .rst_ni,
    .go_i(dma_go),
    .open_i(stream_open),
    .flush_i(dma_flush),
    .stop_i(writer_stop),
    .base_i(target),
    .first_i(first_out),
    .quiet_o(writer_quiet),
    .error_o(writer_error),
    .given_o(given),
    .check_o(writer_check),
    .check_addr_o(writer_addr),
    .check_beats_o(writer_beats),
    .check_gnt_i(check_gnt_i && writer_check),
    .ok_i(check_ok_i && asked_write_q),
    .bad_i(check_bad_i && asked_write_q),
    .addr_i(check_addr_i),
    .data_i(rsp.out_data),
    .valid_i(out_moved),
    .ready_o(writer_ready),
    .aw_o(axi_req_o.aw),
    .aw_valid_o(axi_req_o.aw_valid),
    .aw_ready_i(axi_resp_i.aw_ready),
    .w_o(axi_req_o.w),
    .w_valid_o(axi_req_o.w_valid),
    .w_ready_i(axi_resp_i.w_ready),
    .b_i(axi_resp_i.b),
    .b_valid_i(axi_resp_i.b_valid),
    .b_ready_o(axi_req_o.b_ready)
  );

  // The number of beats ends a job's output; out_last is only for reading waveforms.
  logic unused;
  assign unused = &{1'b0, rsp.out_last};

endmodule
