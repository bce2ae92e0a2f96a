// SPDX-License-Identifier: Apache-2.0
// The Ethernet device with its channel to send, its requests to receive, and its DMA, for io_top.
// It only connects them: the ports have the contracts of io_channel, io_ring, io_dma and
// io_eth.
module io_eth_unit
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  /// As of io_top.
  parameter int unsigned NumVms = 4,
  parameter int unsigned Depth = 4,
  localparam int unsigned CountBits = $clog2(Depth) + 1
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no requests, no frames, and no VM enabled after it.
  input  logic        rst_ni,
  /// The low bits of the time base, in cycles of clk_i, for deadlines.
  input  io_time_t    now_i,
  /// Configuration by the manager: of the channel to send; levels, but server_i and changed_i
  /// pulses.
  input  io_config_t  config_i,
  input  prio_t [NumVms-1:0] prio_i,
  input  logic [NumVms-1:0] allowed_i,
  input  logic        changed_i,
  input  io_server_t  server_i,
  /// Pulse: sets what a VM may send and receive.
  input  logic        row_write_i,
  input  vm_t         row_vm_i,
  input  io_eth_vm_t  row_i,
  /// Selects a counter of lost frames, which count_o shows in the same cycle.
  input  lost_e       count_why_i,
  input  vm_t         count_vm_i,
  output logic [31:0] count_o,
  // requests and completions: to send [0], to receive [1]; a request is a pulse, refused in its
  // cycle or pending from the next one on; a completion is a level until complete_ready_i, or until
  // the VM flushes its requests
  input  io_submit_t  [1:0] submit_i,
  output logic        [1:0] refused_o,
  output logic        [1:0][NumVms-1:0][CountBits-1:0] waiting_o,
  input  io_flush_t   [1:0] flush_i,
  output logic        [1:0] complete_o,
  output io_completion_t [1:0] completion_o,
  input  logic        [1:0] complete_ready_i,
  /// Levels, by direction: memory may be accessed for busy_vm_o.
  output logic        [1:0] busy_o,
  output vm_t         [1:0] busy_vm_o,
  // DMA (io_dma): of the writer of received bytes [0] and of the reader of bytes to send [1]; a
  // request is stable until its done
  output io_client_req_t [1:0] dma_req_o,
  input  io_client_rsp_t [1:0] dma_rsp_i,
  // wire: a byte passes in each direction in a cycle of its tick; gmii_o changes in the next cycle
  input  logic        send_tick_i,
  output gmii_t       gmii_o,
  input  logic        receive_tick_i,
  input  gmii_t       gmii_i
);

  // ---- Send ----
  logic start, abort, others, done;
  io_chunk_t chunk;
  io_result_t result;

  io_channel #(.NumVms(NumVms), .Depth(Depth)) i_channel (
    .clk_i, .rst_ni, .now_i, .policy_i(config_i.policy), .size_i(config_i.size),
    .timeout_i(config_i.timeout), .period_i(config_i.period), .prio_i,
    .set_budget_i(server_i.valid), .set_vm_i(server_i.vm), .set_cycles_i(server_i.cycles),
    .allowed_i, .changed_i, .submit_i(submit_i[0].valid), .submit_vm_i(submit_i[0].vm),
    .submit_request_i(submit_i[0].request), .refused_o(refused_o[0]), .count_o(waiting_o[0]),
    .flush_i(flush_i[0].valid), .flush_vm_i(flush_i[0].vm), .start_o(start), .chunk_o(chunk),
    .abort_o(abort), .others_o(others), .busy_o(busy_o[0]), .done_i(done), .result_i(result),
    .complete_o(complete_o[0]), .completion_o(completion_o[0]),
    .complete_ready_i(complete_ready_i[0])
  );
  assign busy_vm_o[0] = chunk.vm;

  // ---- Receive ----
  logic remove;
  logic [15:0] pending;
  vm_t want_vm, remove_vm;
  io_request_t head;
  if (NumVms < MaxVms) begin : gen_no_vms
    assign pending[MaxVms-1:NumVms] = '0;
  end

  io_ring #(.NumVms(NumVms), .Depth(Depth)) i_ring (
    .clk_i, .rst_ni, .submit_i(submit_i[1].valid), .submit_vm_i(submit_i[1].vm),
    .submit_request_i(submit_i[1].request), .refused_o(refused_o[1]), .count_o(waiting_o[1]),
    .flush_i(flush_i[1].valid), .flush_vm_i(flush_i[1].vm), .pending_o(pending[NumVms-1:0]),
    .head_vm_i(want_vm), .head_o(head), .progress_o(), .update_i(remove), .update_vm_i(remove_vm),
    .update_remove_i(1'b1), .update_progress_i('0)
  );

  // ---- The device and its DMA ----
  logic read_start, read_stop, read_valid, read_ready, read_quiet, write_start, write_valid,
      write_ready, write_end;
  logic write_done;
  logic [7:0] read_byte, write_byte;
  vm_t write_vm;
  addr_t write_addr;
  io_status_e read_status, write_status;

  io_eth #(.NumVms(NumVms)) i_ethernet (
    .clk_i, .rst_ni, .table_write_i(row_write_i), .table_vm_i(row_vm_i), .table_row_i(row_i),
    .count_why_i, .count_vm_i, .count_o, .start_i(start), .chunk_i(chunk), .abort_i(abort),
    .done_o(done), .result_o(result), .read_start_o(read_start), .read_stop_o(read_stop),
    .read_valid_i(read_valid), .read_byte_i(read_byte), .read_ready_o(read_ready),
    .read_status_i(read_status), .read_quiet_i(read_quiet), .flush_i(flush_i[1].valid),
    .flush_vm_i(flush_i[1].vm), .want_vm_o(want_vm), .head_valid_i(pending[want_vm]), .head_i(head),
    .remove_o(remove), .remove_vm_o(remove_vm), .complete_o(complete_o[1]),
    .completion_o(completion_o[1]), .complete_ready_i(complete_ready_i[1]), .busy_o(busy_o[1]),
    .busy_vm_o(busy_vm_o[1]), .write_start_o(write_start), .write_vm_o(write_vm),
    .write_addr_o(write_addr), .write_valid_o(write_valid), .write_byte_o(write_byte),
    .write_ready_i(write_ready), .write_end_o(write_end), .write_done_i(write_done),
    .write_status_i(write_status), .send_tick_i, .gmii_o, .receive_tick_i, .gmii_i
  );

  io_writer i_writer (
    .clk_i, .rst_ni, .start_i(write_start), .vm_i(write_vm), .addr_i(write_addr),
    .valid_i(write_valid), .byte_i(write_byte), .ready_o(write_ready), .end_i(write_end),
    .done_o(write_done), .status_o(write_status), .request_o(dma_req_o[0].request),
    .burst_o(dma_req_o[0].burst), .word_o(dma_req_o[0].word), .take_i(dma_rsp_i[0].take),
    .done_i(dma_rsp_i[0].done), .status_i(dma_rsp_i[0].status)
  );
  io_reader i_reader (
    .clk_i, .rst_ni, .start_i(read_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .bytes_i(chunk.bytes), .stop_i(read_stop), .valid_o(read_valid), .byte_o(read_byte),
    .ready_i(read_ready), .status_o(read_status), .quiet_o(read_quiet),
    .request_o(dma_req_o[1].request), .burst_o(dma_req_o[1].burst), .data_i(dma_rsp_i[1].data),
    .give_i(dma_rsp_i[1].give), .done_i(dma_rsp_i[1].done), .status_i(dma_rsp_i[1].status)
  );
  assign dma_req_o[1].word = '0;

  logic unused;
  assign unused = &{1'b0, others, dma_rsp_i};

endmodule
