// SPDX-License-Identifier: Apache-2.0
// The flash with its channel and its DMA, for io_top. It connects them, and separates the requests
// of the SPI face, whose data do not come from memory, from the others. The ports have the
// contracts of io_channel, io_flash, flash_windows and io_dma.
module flash_unit
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// As of io_top.
  parameter int unsigned NumVms = 4,
  parameter int unsigned Depth = 4,
  /// Of io_flash.
  parameter int unsigned ResetCycles = 32_768,
  localparam int unsigned CountBits = $clog2(Depth) + 1
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no request and no window after it, and the flash is reset
  /// (io_flash).
  input  logic        rst_ni,
  /// The low bits of the time base, in cycles of clk_i, for deadlines.
  input  io_time_t    now_i,
  /// Configuration by the manager, levels; changed_i, server_i and window_write_i are pulses.
  input  io_config_t  config_i,
  input  prio_t [NumVms-1:0] prio_i,
  input  logic [NumVms-1:0] allowed_i,
  input  logic        changed_i,
  input  io_server_t  server_i,
  /// In cycles: half a period of SCK; deselection between two commands; how long an erase or
  /// program operation continues before it is suspended for another VM.
  input  logic [7:0]  half_i,
  input  logic [7:0]  deselect_i,
  input  logic [31:0] slice_i,
  /// The VM's window, in sectors of 64 KiB: the first one, and their number.
  input  logic        window_write_i,
  input  vm_t         window_vm_i,
  input  logic [7:0]  window_first_i,
  input  logic [8:0]  window_number_i,
  /// Requests, pulses, of channel and SPI face; refused_o comes in the same cycle.
  input  io_submit_t  submit_i,
  output logic        refused_o,
  /// Requests of each VM that are not complete, 0 .. Depth.
  output logic [NumVms-1:0][CountBits-1:0] count_o,
  /// Pulse: removes all requests of the VM; its present chunk ends without a completion.
  input  io_flush_t   flush_i,
  /// Level: the end of a request of the flash page, until complete_ready_i or the VM's flush; no
  /// other request is served before.
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  /// Level: the end of a request of the SPI face; of completion_o.
  output logic        face_complete_o,
  input  logic        face_ready_i,
  // bytes that the SPI face programs
  /// Pulse: bytes of face_vm_o's page follow, from face_index_o on.
  output logic        face_start_o,
  output vm_t         face_vm_o,
  output logic [7:0]  face_index_o,
  input  logic        face_valid_i,
  input  logic [7:0]  face_byte_i,
  output logic        face_take_o,
  /// A chunk of busy_vm_o may access memory.
  output logic        busy_o,
  output vm_t         busy_vm_o,
  /// The window of this VM in bytes, in the same cycle.
  input  vm_t         size_vm_i,
  output logic [31:0] size_bytes_o,
  // DMA (io_dma): of the writer [0] and of the reader [1]; a request is stable until its done
  output io_client_req_t [1:0] dma_req_o,
  input  io_client_rsp_t [1:0] dma_rsp_i,
  // pins
  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);

  logic start, abort, others, executes, done, complete;
  logic [NumVms-1:0] blocked;
  io_chunk_t chunk;
  io_result_t result;
  logic [7:0] first;
  logic [8:0] number;

  io_channel #(.NumVms(NumVms), .Depth(Depth)) i_channel (
    .clk_i, .rst_ni, .now_i, .policy_i(config_i.policy), .size_i(config_i.size),
    .timeout_i(config_i.timeout), .period_i(config_i.period), .prio_i,
    .set_budget_i(server_i.valid), .set_vm_i(server_i.vm), .set_cycles_i(server_i.cycles),
    .allowed_i(allowed_i & ~blocked), .changed_i, .submit_i(submit_i.valid),
    .submit_vm_i(submit_i.vm), .submit_request_i(submit_i.request), .refused_o, .count_o,
    .flush_i(flush_i.valid), .flush_vm_i(flush_i.vm), .start_o(start), .chunk_o(chunk),
    .abort_o(abort), .others_o(others), .busy_o(executes), .done_i(done), .result_i(result),
    .complete_o(complete), .completion_o, .complete_ready_i(chunk.face ? face_ready_i
                                                            : complete_ready_i)
  );
  // The chunk stays until its completion is taken.
  assign complete_o      = complete && !chunk.face;
  assign face_complete_o = complete && chunk.face;

  // An erase accesses no memory, and takes long.
  assign busy_o    = executes && chunk.op != FlashErase;
  assign busy_vm_o = chunk.vm;

  flash_windows #(.NumVms(NumVms)) i_windows (
    .clk_i, .rst_ni, .write_i(window_write_i), .write_vm_i(window_vm_i),
    .write_first_i(window_first_i), .write_number_i(window_number_i), .vm_i(chunk.vm),
    .first_o(first), .number_o(number), .size_vm_i, .size_bytes_o
  );

  logic write_start, write_valid, write_ready, write_end, write_done, read_start, read_stop,
      read_ready;
  logic read_quiet, memory_valid;
  logic [7:0] write_byte, memory_byte;
  io_status_e write_status, read_status;

  io_flash #(.NumVms(NumVms), .ResetCycles(ResetCycles)) i_flash (
    .clk_i, .rst_ni, .half_i, .deselect_i, .slice_i, .first_i(first), .number_i(number),
    .start_i(start), .chunk_i(chunk), .abort_i(abort), .done_o(done), .result_o(result),
    .others_i(others), .flush_i(flush_i.valid), .flush_vm_i(flush_i.vm), .blocked_o(blocked),
    .write_start_o(write_start), .write_valid_o(write_valid), .write_byte_o(write_byte),
    .write_ready_i(write_ready), .write_end_o(write_end), .write_done_i(write_done),
    .write_status_i(write_status), .read_start_o(read_start), .read_stop_o(read_stop),
    .read_valid_i(chunk.face ? face_valid_i : memory_valid),
    .read_byte_i(chunk.face ? face_byte_i : memory_byte), .read_ready_o(read_ready),
    .read_status_i(chunk.face ? IoDone : read_status), .read_quiet_i(read_quiet), .cs_no, .sck_o,
    .mosi_o, .miso_i
  );

  io_writer i_writer (
    .clk_i, .rst_ni, .start_i(write_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .valid_i(write_valid), .byte_i(write_byte), .ready_o(write_ready), .end_i(write_end),
    .done_o(write_done), .status_o(write_status), .request_o(dma_req_o[0].request),
    .burst_o(dma_req_o[0].burst), .word_o(dma_req_o[0].word), .take_i(dma_rsp_i[0].take),
    .done_i(dma_rsp_i[0].done), .status_i(dma_rsp_i[0].status)
  );
  io_reader i_reader (
    .clk_i, .rst_ni, .start_i(read_start && !chunk.face), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .bytes_i(chunk.bytes), .stop_i(read_stop), .valid_o(memory_valid), .byte_o(memory_byte),
    .ready_i(read_ready), .status_o(read_status), .quiet_o(read_quiet),
    .request_o(dma_req_o[1].request), .burst_o(dma_req_o[1].burst), .data_i(dma_rsp_i[1].data),
    .give_i(dma_rsp_i[1].give), .done_i(dma_rsp_i[1].done), .status_i(dma_rsp_i[1].status)
  );
  assign dma_req_o[1].word = '0;
  assign face_start_o = read_start && chunk.face;
  assign face_vm_o    = chunk.vm;
  assign face_index_o = chunk.target[7:0];
  assign face_take_o  = read_ready;

  logic unused;
  assign unused = &{1'b0, dma_rsp_i};

endmodule
