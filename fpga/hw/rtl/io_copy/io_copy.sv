// SPDX-License-Identifier: Apache-2.0
// Executes chunks that copy bytes in a VM's memory, in any alignment, a byte a cycle; it serves the
// arbiter of copy_unit. Words of 64 bits instead of bytes would copy 1.5 times as fast only: io_dma
// executes one burst at a time, and with a latency of 20 cycles it needs some 85 cycles to read 128
// bytes and to write them.
//
// The destination is the request's address. The source is its target: the low 32 bits of an address
// in the same 4 GiB as the destination. Both areas end in these 4 GiB; a request for which they do
// not is bad.
module io_copy
  import fabric_pkg::*;
  import io_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; idle after it.
  input  logic       rst_ni,
  /// Chunks (io_arbiter): a pulse, while idle; chunk_i is stable until done_o. abort_i, a level,
  /// ends the chunk with IoTimeout; bytes that were read are still written, so done_o waits for the
  /// memory.
  input  logic       start_i,
  input  io_chunk_t  chunk_i,
  input  logic       abort_i,
  /// Pulse, with result_o: all bytes are written, or the chunk has failed and its DMA is over.
  output logic       done_o,
  output io_result_t result_o,
  /// Data from memory: a pulse for io_reader at read_addr_o, in the cycle of start_i.
  output logic       read_start_o,
  output addr_t      read_addr_o,
  output logic       read_stop_o,
  input  logic       read_valid_i,
  input  logic [7:0] read_byte_i,
  output logic       read_ready_o,
  input  io_status_e read_status_i,
  input  logic       read_quiet_i,
  /// Data to memory: a pulse for io_writer, in the same cycle. Bytes pass from one to the other
  /// without a register; either may wait.
  output logic       write_start_o,
  output logic       write_valid_o,
  output logic [7:0] write_byte_o,
  input  logic       write_ready_i,
  output logic       write_end_o,
  input  logic       write_done_i,
  input  io_status_e write_status_i
);

  // CpCopy: bytes pass. CpDrain: the writer ends. CpEnd: the reader ends.
  typedef enum logic [1:0] {CpIdle, CpCopy, CpDrain, CpEnd} state_e;

  state_e state_q;
  io_status_e refusal, failure, status_q;

  // ---- The request ----
  // A chunk that is not the last one has to end before the end of the 4 GiB: the next one would
  // start in others.
  function automatic logic leaves(logic [31:0] begins);
    logic [32:0] ends;
    ends = {1'b0, begins} + 33'(chunk_i.bytes);
    return ends[32] && (ends[31:0] != '0 || !chunk_i.last);
  endfunction

  always_comb begin
    refusal = IoDone;
    if (chunk_i.op != CopyBytes || chunk_i.bytes == '0) refusal = IoBad;
    else if (leaves(chunk_i.target) || leaves(chunk_i.addr[31:0])) refusal = IoBad;
  end

  // ---- Sequence ----
  always_comb begin
    // The first failure ends the chunk; of several at once the reader's is reported.
    failure = IoDone;
    if (read_status_i != IoDone) failure = read_status_i;
    else if (write_status_i != IoDone) failure = write_status_i;
    else if (abort_i) failure = IoTimeout;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= CpIdle;
      status_q <= IoDone;
    end else begin
      unique case (state_q)
        CpIdle: if (start_i) begin
          state_q  <= refusal == IoDone ? CpCopy : CpEnd;
          status_q <= refusal;
        end
        CpCopy: if (write_end_o) begin
          state_q  <= CpDrain;
          status_q <= failure;
        end
        CpDrain: if (write_done_i) begin
          state_q <= CpEnd;
          if (status_q == IoDone) status_q <= write_status_i;
        end
        default: if (read_quiet_i) state_q <= CpIdle;  // CpEnd
      endcase
    end
  end
  assign done_o   = state_q == CpEnd && read_quiet_i;
  assign result_o = '{status: status_q, again: 1'b0, bytes: status_q == IoDone ? chunk_i.bytes : '0,
                      data: '0};

  // ---- Data ----
  // The reader is quiet when all bytes have passed, or after it has failed.
  assign read_start_o  = state_q == CpIdle && start_i && refusal == IoDone;
  assign read_addr_o   = {chunk_i.addr[AddrWidth-1:32], chunk_i.target};
  assign read_stop_o   = state_q inside {CpDrain, CpEnd};
  assign read_ready_o  = state_q == CpCopy && write_ready_i;
  assign write_start_o = read_start_o;
  assign write_valid_o = state_q == CpCopy && read_valid_i;
  assign write_byte_o  = read_byte_i;
  assign write_end_o   = state_q == CpCopy && (read_quiet_i || failure != IoDone);

  logic unused;
  assign unused = &{1'b0, chunk_i.face, chunk_i.vm, chunk_i.first};

endmodule
