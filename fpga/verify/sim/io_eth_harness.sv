// SPDX-License-Identifier: Apache-2.0
// The Ethernet device with its reader, its writer and its receive ring, a memory of 16 KiB for each
// of four VMs, and a wire: it records what is sent, and plays a recording or loops what is sent
// back.
module io_eth_harness
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  parameter int unsigned SendBytes = 256,
  parameter int unsigned Threshold = 48,
  localparam int unsigned NumVms = 4,
  localparam int unsigned Depth = 4,
  localparam int unsigned WireBytes = 65536,
  localparam int unsigned AddrBits = 14
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        write_i,
  input  vm_t         write_vm_i,
  input  logic [62:0] row_i,
  input  logic [2:0]  why_i,
  input  vm_t         count_vm_i,
  output logic [31:0] count_o,
  // sending
  input  logic        start_i,
  input  vm_t         vm_i,
  input  logic [7:0]  op_i,
  input  logic [15:0] bytes_i,
  input  logic [40:0] addr_i,
  input  logic        first_i,
  input  logic        last_i,
  input  logic        abort_i,
  output logic        done_o,
  output logic [3:0]  status_o,
  output logic [15:0] bytes_o,
  // receiving
  input  logic        submit_i,
  input  vm_t         submit_vm_i,
  input  logic [7:0]  submit_op_i,
  input  logic [7:0]  submit_tag_i,
  input  logic [15:0] submit_bytes_i,
  input  logic [40:0] submit_addr_i,
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  output logic        complete_o,
  output vm_t         complete_vm_o,
  output logic [7:0]  complete_tag_o,
  output logic [3:0]  complete_status_o,
  output logic [15:0] complete_bytes_o,
  output logic [31:0] complete_data_o,
  input  logic        complete_ready_i,
  output logic        busy_o,
  output vm_t         busy_vm_o,
  // memory: cycles before a burst's first word
  input  logic [15:0] latency_i,
  // wire
  input  logic [7:0]  ticks_i,        // cycles of a byte
  input  logic        loop_i,
  input  logic        play_i,         // pulse: plays the first play_bytes_i words of `played`
  input  logic [16:0] play_bytes_i,
  output logic        playing_o,
  output logic [16:0] recorded_o,     // words in `recorded`
  output logic [31:0] cycle_o,
  output logic [31:0] last_sent_o     // cycle of the last byte that was sent
);

  io_chunk_t chunk_q;
  always_ff @(posedge clk_i) begin
    if (start_i) chunk_q <= chunk;
  end
  io_chunk_t chunk;
  assign chunk = start_i ? '{vm: vm_i, op: op_i, bytes: bytes_i, target: '0, addr: addr_i,
                             first: first_i, last: last_i, face: 1'b0}
                         : chunk_q;

  // ---- Wire ----
  gmii_t sent, received;
  logic [9:0] played [WireBytes];
  logic [31:0] recorded [WireBytes];  // ticks without a frame before it, then the byte
  logic [7:0] divider_q;
  logic [16:0] play_q;
  logic [21:0] idle_q;
  logic tick;
  assign tick      = divider_q == '0;
  assign playing_o = play_q != '0;
  assign received  = loop_i ? sent : playing_o ? gmii_t'(played[16'(play_bytes_i - play_q)]) : '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      divider_q   <= '0;
      play_q      <= '0;
      idle_q      <= '0;
      recorded_o  <= '0;
      cycle_o     <= '0;
      last_sent_o <= '0;
    end else begin
      cycle_o   <= cycle_o + 1'b1;
      divider_q <= divider_q + 8'd1 >= ticks_i ? '0 : divider_q + 8'd1;
      if (play_i) play_q <= play_bytes_i;
      else if (tick && playing_o) play_q <= play_q - 1'b1;
      if (tick) begin
        idle_q <= sent.enable ? '0 : idle_q + 22'(idle_q != '1);
        if (sent.enable) begin
          recorded[recorded_o[15:0]] <= {idle_q, sent.error, 1'b0, sent.data};
          recorded_o  <= recorded_o + 1'b1;
          last_sent_o <= cycle_o;
        end
      end
    end
  end

  // ---- Memory ----
  // A burst of each of the two at a time; addresses beyond 16 KiB are outside the VM's windows.
  word_t mem [4 << (AddrBits - 3)];
  io_burst_t [1:0] burst;
  io_word_t word;
  word_t read_word;
  logic [1:0] request, moves, done;
  io_status_e [1:0] status;
  logic [1:0][15:0] wait_q;
  beats_t [1:0] beat_q;
  logic [1:0][AddrBits-2:0] row;
  for (genvar c = 0; c < 2; c++) begin : gen_client
    logic outside;
    assign outside   = burst[c].addr[40:AddrBits] != '0;
    assign row[c]    = {burst[c].vm[1:0], burst[c].addr[AddrBits-1:3] + (AddrBits - 3)'(beat_q[c])};
    assign done[c]   = request[c] && beat_q[c] == burst[c].beats;
    assign moves[c]  = request[c] && !done[c] && wait_q[c] >= latency_i;
    assign status[c] = outside ? IoViolation : IoDone;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        wait_q[c] <= '0;
        beat_q[c] <= '0;
      end else begin
        wait_q[c] <= request[c] && !done[c] ? wait_q[c] + 16'(wait_q[c] != '1) : '0;
        if (done[c]) beat_q[c] <= '0;
        else if (moves[c]) beat_q[c] <= beat_q[c] + 1'b1;
      end
    end
  end
  assign read_word = mem[row[0]];
  always_ff @(posedge clk_i) begin
    for (int b = 0; b < 8; b++) begin
      if (moves[1] && status[1] == IoDone && word.strobes[b])
        mem[row[1]][8*b+:8] <= word.data[8*b+:8];
    end
  end

  // ---- The device ----
  logic read_start, read_stop, read_valid, read_ready, read_quiet;
  logic write_start, write_valid, write_ready, write_end, write_done, remove;
  logic [7:0] read_byte, write_byte;
  vm_t write_vm, want_vm, remove_vm;
  addr_t write_addr;
  io_status_e read_status, write_status;
  io_request_t head;
  io_completion_t completion;
  io_result_t result;
  logic [15:0] pending;
  assign pending[15:NumVms] = '0;

  io_eth #(.NumVms(NumVms), .SendBytes(SendBytes), .Threshold(Threshold)) i_ethernet (
    .clk_i, .rst_ni, .table_write_i(write_i), .table_vm_i(write_vm_i), .table_row_i(row_i),
    .count_why_i(lost_e'(why_i)), .count_vm_i, .count_o, .start_i, .chunk_i(chunk), .abort_i,
    .done_o, .result_o(result), .read_start_o(read_start), .read_stop_o(read_stop),
    .read_valid_i(read_valid), .read_byte_i(read_byte), .read_ready_o(read_ready),
    .read_status_i(read_status), .read_quiet_i(read_quiet), .flush_i, .flush_vm_i,
    .want_vm_o(want_vm), .head_valid_i(pending[want_vm]), .head_i(head), .remove_o(remove),
    .remove_vm_o(remove_vm), .complete_o, .completion_o(completion), .complete_ready_i, .busy_o,
    .busy_vm_o, .write_start_o(write_start), .write_vm_o(write_vm), .write_addr_o(write_addr),
    .write_valid_o(write_valid), .write_byte_o(write_byte), .write_ready_i(write_ready),
    .write_end_o(write_end), .write_done_i(write_done), .write_status_i(write_status),
    .send_tick_i(tick), .gmii_o(sent), .receive_tick_i(tick), .gmii_i(received)
  );
  assign status_o          = result.status;
  assign bytes_o           = result.bytes;
  assign complete_vm_o     = completion.vm;
  assign complete_tag_o    = completion.tag;
  assign complete_status_o = completion.status;
  assign complete_bytes_o  = completion.bytes;
  assign complete_data_o   = completion.data;

  io_ring #(.NumVms(NumVms), .Depth(Depth)) i_ring (
    .clk_i, .rst_ni, .submit_i, .submit_vm_i,
    .submit_request_i('{op: submit_op_i, tag: submit_tag_i, length: submit_bytes_i, target: '0,
                        addr: submit_addr_i, due: '0, face: 1'b0}),
    .refused_o(), .count_o(), .flush_i, .flush_vm_i, .pending_o(pending[NumVms-1:0]),
    .head_vm_i(want_vm), .head_o(head), .progress_o(), .update_i(remove), .update_vm_i(remove_vm),
    .update_remove_i(1'b1), .update_progress_i('0)
  );

  io_reader i_reader (
    .clk_i, .rst_ni, .start_i(read_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .bytes_i(chunk.bytes), .stop_i(read_stop), .valid_o(read_valid), .byte_o(read_byte),
    .ready_i(read_ready), .status_o(read_status), .quiet_o(read_quiet), .request_o(request[0]),
    .burst_o(burst[0]), .data_i(read_word), .give_i(moves[0] && status[0] == IoDone),
    .done_i(done[0]), .status_i(status[0])
  );

  io_writer i_writer (
    .clk_i, .rst_ni, .start_i(write_start), .vm_i(write_vm), .addr_i(write_addr),
    .valid_i(write_valid), .byte_i(write_byte), .ready_o(write_ready), .end_i(write_end),
    .done_o(write_done), .status_o(write_status), .request_o(request[1]), .burst_o(burst[1]),
    .word_o(word), .take_i(moves[1]), .done_i(done[1]), .status_i(status[1])
  );

endmodule
