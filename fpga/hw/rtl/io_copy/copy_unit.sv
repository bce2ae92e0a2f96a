// SPDX-License-Identifier: Apache-2.0
// The copy device with its channel and its DMA, for io_top. It only connects them: configuration,
// requests and completions have the contracts of io_channel, the DMA that of io_dma.
module copy_unit
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// As of io_top.
  parameter int unsigned NumVms = 4,
  parameter int unsigned Depth = 4,
  localparam int unsigned CountBits = $clog2(Depth) + 1
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no request and no copy after it.
  input  logic        rst_ni,
  /// The low bits of the time base, in cycles of clk_i, for deadlines.
  input  io_time_t    now_i,
  /// Configuration by the manager, levels; server_i and changed_i are pulses.
  input  io_config_t  config_i,
  input  prio_t [NumVms-1:0] prio_i,
  input  logic [NumVms-1:0] allowed_i,
  input  logic        changed_i,
  input  io_server_t  server_i,
  /// Requests, pulses; refused_o comes in the same cycle.
  input  io_submit_t  submit_i,
  output logic        refused_o,
  /// Requests of each VM that are not complete, 0 .. Depth.
  output logic [NumVms-1:0][CountBits-1:0] count_o,
  /// Pulse: removes all requests of the VM; its present chunk ends without a completion.
  input  io_flush_t   flush_i,
  /// A completion waits until complete_ready_i; no other request is served until then.
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  /// Level: a chunk of busy_vm_o may access memory, or its completion waits; busy_vm_o means
  /// nothing otherwise.
  output logic        busy_o,
  output vm_t         busy_vm_o,
  // DMA (io_dma): of the writer [0] and of the reader [1]; a request is stable until its done
  output io_client_req_t [1:0] dma_req_o,
  input  io_client_rsp_t [1:0] dma_rsp_i
);

  logic start, abort, others, done;
  io_chunk_t chunk;
  io_result_t result;

  io_channel #(.NumVms(NumVms), .Depth(Depth)) i_channel (
    .clk_i, .rst_ni, .now_i, .policy_i(config_i.policy), .size_i(config_i.size),
    .timeout_i(config_i.timeout), .period_i(config_i.period), .prio_i,
    .set_budget_i(server_i.valid), .set_vm_i(server_i.vm), .set_cycles_i(server_i.cycles),
    .allowed_i, .changed_i, .submit_i(submit_i.valid), .submit_vm_i(submit_i.vm),
    .submit_request_i(submit_i.request), .refused_o, .count_o, .flush_i(flush_i.valid),
    .flush_vm_i(flush_i.vm), .start_o(start), .chunk_o(chunk), .abort_o(abort), .others_o(others),
    .busy_o, .done_i(done), .result_i(result), .complete_o, .completion_o, .complete_ready_i
  );
  assign busy_vm_o = chunk.vm;

  logic write_start, write_valid, write_ready, write_end, write_done, read_start, read_stop,
      read_valid, read_ready;
  logic read_quiet;
  logic [7:0] write_byte, read_byte;
  addr_t read_addr;
  io_status_e write_status, read_status;

  io_copy i_copy (
    .clk_i, .rst_ni, .start_i(start), .chunk_i(chunk), .abort_i(abort), .done_o(done),
    .result_o(result), .read_start_o(read_start), .read_addr_o(read_addr), .read_stop_o(read_stop),
    .read_valid_i(read_valid), .read_byte_i(read_byte), .read_ready_o(read_ready),
    .read_status_i(read_status), .read_quiet_i(read_quiet), .write_start_o(write_start),
    .write_valid_o(write_valid), .write_byte_o(write_byte), .write_ready_i(write_ready),
    .write_end_o(write_end), .write_done_i(write_done), .write_status_i(write_status)
  );
  io_writer i_writer (
    .clk_i, .rst_ni, .start_i(write_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .valid_i(write_valid), .byte_i(write_byte), .ready_o(write_ready), .end_i(write_end),
    .done_o(write_done), .status_o(write_status), .request_o(dma_req_o[0].request),
    .burst_o(dma_req_o[0].burst), .word_o(dma_req_o[0].word), .take_i(dma_rsp_i[0].take),
    .done_i(dma_rsp_i[0].done), .status_i(dma_rsp_i[0].status)
  );
  io_reader i_reader (
    .clk_i, .rst_ni, .start_i(read_start), .vm_i(chunk.vm), .addr_i(read_addr),
    .bytes_i(chunk.bytes), .stop_i(read_stop), .valid_o(read_valid), .byte_o(read_byte),
    .ready_i(read_ready), .status_o(read_status), .quiet_o(read_quiet),
    .request_o(dma_req_o[1].request), .burst_o(dma_req_o[1].burst), .data_i(dma_rsp_i[1].data),
    .give_i(dma_rsp_i[1].give), .done_i(dma_rsp_i[1].done), .status_i(dma_rsp_i[1].status)
  );
  assign dma_req_o[1].word = '0;

  logic unused;
  assign unused = &{1'b0, others, dma_rsp_i};

endmodule
