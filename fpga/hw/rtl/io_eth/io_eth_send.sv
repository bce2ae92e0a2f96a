// SPDX-License-Identifier: Apache-2.0
// Executes chunks that send frames. A frame is one chunk: 14 to 1514 bytes without padding, tag and
// FCS. The header is checked as it enters the queue, and a frame that the VM may not send is
// discarded there, before its first byte is on the wire. A chunk is over when its frame is on the
// wire and at most Ahead bytes of it are in the queue: so the next one is chosen as late as the
// line rate allows, is fetched meanwhile, and never finds more than the rest of one frame before
// it. That rest counts to the time of the next chunk, not to that of its own.
module io_eth_send
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  /// Bytes of the queue, a power of two.
  parameter int unsigned Bytes = 256,
  /// Bytes of a frame in the queue before it starts on the wire: 1 to Bytes. The header has to be
  /// there, too.
  parameter int unsigned Threshold = 48,
  /// At most Bytes. They and 16 bytes of FCS and gap are the time to choose the next chunk and to
  /// fetch its first bytes.
  parameter int unsigned Ahead = 112
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the queue is empty and no chunk is executed after it.
  input  logic       rst_ni,
  /// Chunks (io_arbiter): a pulse; chunk_i is stable until done_o. abort_i, a level, ends the chunk
  /// with IoTimeout unless its frame is in the queue as a whole.
  input  logic       start_i,
  input  io_chunk_t  chunk_i,
  input  logic       abort_i,
  output logic       done_o,
  output io_result_t result_o,
  /// Rows (io_eth_table): row_i is that of vm_o, in the same cycle.
  output vm_t        vm_o,
  input  io_eth_vm_t row_i,
  /// Pulse: a frame of vm_o is forbidden.
  output logic       forged_o,
  /// Data from memory (io_reader): a pulse, in the cycle of start_i; a byte when valid and ready.
  output logic       read_start_o,
  output logic       read_stop_o,
  input  logic       read_valid_i,
  input  logic [7:0] read_byte_i,
  output logic       read_ready_o,
  input  io_status_e read_status_i,
  input  logic       read_quiet_i,
  /// The transmitter (io_eth_queue, io_eth_mac_tx); starved_i: the queue was empty within a frame.
  output logic       valid_o,
  output logic [7:0] byte_o,
  output logic       last_o,
  input  logic       ready_i,
  output logic       abort_o,
  input  logic       starved_i,
  input  logic       begun_i
);

  localparam logic [10:0] TagIndex = 11'd12;  // the tag is inserted before this byte

  // SdFill: bytes go into the queue. SdEnd: until the reader is quiet and the frame is at its tail.
  typedef enum logic [1:0] {SdIdle, SdFill, SdEnd} state_e;

  state_e state_q;
  io_status_e refusal, failure, status_q;
  logic [10:0] index_q;   // of the next byte of the VM
  logic [2:0] tag_q;      // bytes of the tag that are inserted
  logic [7:0] tag_byte, push_byte;
  logic inserts, takes, forbidden, last, push_valid, push_ready, discard, tail, waits, over;

  // ---- The request ----
  assign vm_o = chunk_i.vm;
  always_comb begin
    refusal = IoDone;
    if (chunk_i.op != OpSend || !chunk_i.first || !chunk_i.last || chunk_i.bytes < 16'(HeaderBytes)
        || chunk_i.bytes > 16'(MaxBytes)) refusal = IoBad;
    else if (!row_i.enabled) refusal = IoForbidden;
  end
  assign read_start_o = state_q == SdIdle && start_i && refusal == IoDone;

  // ---- Bytes to the queue ----
  assign inserts = row_i.in_vlan && index_q == TagIndex && tag_q != 3'(TagBytes);
  assign takes   = read_valid_i && read_ready_o;
  assign last    = !inserts && index_q == 11'(chunk_i.bytes - 16'd1);
  always_comb begin
    unique case (tag_q[1:0])
      2'd0:    tag_byte = TypeTag[15:8];
      2'd1:    tag_byte = TypeTag[7:0];
      2'd2:    tag_byte = {4'b0, row_i.vlan[11:8]};
      default: tag_byte = row_i.vlan[7:0];
    endcase
  end
  assign push_byte    = inserts ? tag_byte : read_byte_i;
  assign waits        = index_q == '0 && !tail;  // after a timeout of the chunk before
  assign push_valid   = state_q == SdFill && failure == IoDone && (inserts || read_valid_i)
                        && !waits;
  assign read_ready_o = state_q == SdFill && push_ready && !inserts && !waits;

  io_eth_check i_check (
    .clk_i, .rst_ni, .mac_i(row_i.mac), .valid_i(takes), .byte_i(read_byte_i), .index_i(index_q),
    .forbidden_o(forbidden)
  );

  // ---- Failures ----
  always_comb begin
    failure = IoDone;
    if (read_status_i != IoDone) failure = read_status_i;
    else if (abort_i || starved_i) failure = IoTimeout;
    else if (forbidden) failure = IoForbidden;
  end
  assign discard  = state_q == SdFill && failure != IoDone;
  assign forged_o = discard && failure == IoForbidden;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= SdIdle;
      status_q <= IoDone;
      index_q  <= '0;
      tag_q    <= '0;
    end else begin
      unique case (state_q)
        SdIdle: if (start_i) begin
          state_q  <= refusal == IoDone ? SdFill : SdEnd;
          status_q <= refusal;
          index_q  <= '0;
          tag_q    <= '0;
        end
        SdFill: begin
          if (push_ready && inserts) tag_q <= tag_q + 1'b1;
          if (takes) index_q <= index_q + 1'b1;
          if (discard || (takes && last)) state_q <= SdEnd;
          status_q <= failure;
        end
        default: if (over) state_q <= SdIdle;  // SdEnd
      endcase
    end
  end
  assign read_stop_o = state_q == SdEnd;
  // A timeout does not take back a frame that is in the queue.
  assign over        = read_quiet_i && (tail || abort_i);
  assign done_o      = state_q == SdEnd && over;
  assign result_o    = '{status: status_q, again: 1'b0, bytes: status_q == IoDone ? chunk_i.bytes
                         : '0, data: '0};

  io_eth_queue #(.Bytes(Bytes), .Threshold(Threshold), .Ahead(Ahead)) i_queue (
    .clk_i,
    .rst_ni,
    .valid_i(push_valid),
    .byte_i(push_byte),
    .last_i(last),
    .ready_o(push_ready),
    .approved_i(state_q == SdFill && index_q >= 11'(HeaderBytes)),
    .discard_i(discard),
    .valid_o,
    .byte_o,
    .last_o,
    .ready_i,
    .abort_o,
    .begun_i,
    .tail_o(tail)
  );

  logic unused;
  assign unused = &{1'b0, chunk_i.target, chunk_i.addr, chunk_i.face, row_i.multicast};

endmodule
