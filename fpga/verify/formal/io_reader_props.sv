// SPDX-License-Identifier: Apache-2.0
// Proves the reader for all transfers, memories, errors and devices: each byte that is handed out
// is the next one of the transfer, as it is in memory, from a burst that is over without an error;
// a burst stays in a block of 128 bytes and reads only words of the transfer; a transfer of 0 bytes
// reads none; and no byte follows a failure or a stop.
module io_reader_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned Depth = 32
) (
  input logic clk_i,
  input logic start_i, stop_i, ready_i, give_i, done_i,
  input vm_t vm_i,
  input addr_t addr_i,
  input io_length_t bytes_i,
  input word_t data_i,
  input io_status_e status_i
);
  localparam int unsigned WordBits = AddrWidth - 3;
  typedef logic [WordBits-1:0] index_t;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic valid, quiet, request;
  logic [7:0] data;
  io_status_e status;
  io_burst_t burst;
  io_reader #(.Depth(Depth)) dut (
    .clk_i, .rst_ni(rst_n), .start_i, .vm_i, .addr_i, .bytes_i, .stop_i, .valid_o(valid),
    .byte_o(data), .ready_i, .status_o(status), .quiet_o(quiet), .request_o(request),
    .burst_o(burst), .data_i, .give_i, .done_i, .status_i
  );

  // The DMA: words of a burst, then its end. One that ends well has given all of them.
  beats_t given_q = '0;
  index_t word;  // that is given
  assign word = burst.addr[AddrWidth-1:3] + index_t'(given_q);
  always_ff @(posedge clk_i) begin
    if (done_i) given_q <= '0;
    else if (give_i) given_q <= given_q + 1'b1;
  end
  always_comb begin
    if (start_i) assume (quiet && rst_n);
    if (give_i) assume (request && given_q < burst.beats);
    if (done_i) assume (request && !give_i && (status_i != IoDone || given_q == burst.beats));
    assume (status_i inside {IoDone, IoViolation, IoBus});
  end

  // An arbitrary word of memory.
  (* keep *) index_t any;
  (* keep *) word_t any_data;
  always_ff @(posedge clk_i) begin
    any      <= any;
    any_data <= any_data;
  end
  always_comb if (give_i && word == any) assume (data_i == any_data);

  // The transfer by the definition: its next byte, the bytes that are left, and the words that no
  // burst has read.
  vm_t vm_q;
  addr_t next_q;
  io_length_t left_q = '0;
  logic [13:0] unread_q = '0, unread;
  logic request_q = 1'b0, begins, ended_q = 1'b1;  // ended_q: by a failure or a stop
  assign begins = request && !request_q;
  assign unread = unread_q - (begins ? 14'(burst.beats) : '0);
  always_ff @(posedge clk_i) begin
    request_q <= request;
    unread_q  <= unread;
    if (valid && ready_i) begin
      next_q <= next_q + 1'b1;
      left_q <= left_q - 1'b1;
    end
    if (stop_i || (done_i && status_i != IoDone)) ended_q <= 1'b1;
    if (start_i) begin
      vm_q     <= vm_i;
      next_q   <= addr_i;
      left_q   <= bytes_i;
      unread_q <= bytes_i == '0 ? '0 : 14'((17'(bytes_i) + 17'(addr_i[2:0]) + 17'd7) >> 3);
      ended_q  <= 1'b0;
    end
  end

  // The words in the FIFO are those from the next byte's on; the last ones may be of the burst that
  // is under way.
  logic [5:0] usage;
  logic [$clog2(Depth)-1:0] slot;
  index_t first, ahead;
  assign usage = dut.usage;
  assign first = next_q[AddrWidth-1:3];
  assign ahead = any - first;
  assign slot  = dut.i_fifo.read_q[$clog2(Depth)-1:0] + ahead[$clog2(Depth)-1:0];

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (given_q == '0 && left_q == '0 && unread_q == '0
                                                 && !request_q && ended_q);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    if (!request) assert (given_q == '0);
    assert (given_q <= burst.beats || !request);
    if (ended_q) assert (dut.left_q == '0 && dut.coming_q == '0);
    else begin
      assert (dut.left_q == left_q && dut.lane_q == next_q[2:0] && status == IoDone);
      assert (17'(dut.coming_q) <= 17'h10006 && 14'(dut.words_left) == unread && dut.vm_q == vm_q);
      assert (left_q != '0 || (unread == '0 && !request));
    end
    if (!ended_q && left_q != '0) begin
      assert (usage == dut.over_q + 6'(given_q) && usage <= 6'(Depth));
      if (request)
        assert (usage - 6'(given_q) <= 6'(Depth - 16)
                && burst.addr[AddrWidth-1:3] == first + index_t'(dut.over_q));
      assert (dut.next_q == {first + index_t'(usage) + (request ? index_t'(burst.beats - given_q)
                                                        : '0), 3'b0});
      if (ahead < index_t'(usage)) assert (dut.i_fifo.mem[slot] == any_data);
      // What is left is in the FIFO, in the burst, or not read.
      assert ((17'(next_q[2:0]) + 17'(left_q) + 17'd7) >> 3
              == 17'(usage) + (request ? 17'(burst.beats - given_q) : '0) + 17'(unread));
    end

    if (begins) assert (14'(burst.beats) <= unread_q);
    if (request) begin
      assert (burst.beats != '0 && burst.beats <= 5'd16 && !burst.write && burst.vm == vm_q
              && burst.addr[2:0] == '0);
      assert ({2'b0, burst.addr[BlockBits-1:3]} + 6'(burst.beats) <= 6'd16);
    end
    if (valid) begin
      assert (!ended_q && left_q != '0 && dut.over_q != '0 && status == IoDone);
      if (first == any) assert (data == any_data[8*next_q[2:0]+:8]);
    end
    cover (valid && usage == 6'(Depth - 12) && next_q[2:0] == 3'd3);
    cover (ended_q && status == IoBus && usage == 6'd2);
    cover (quiet && !ended_q && left_q == '0 && next_q[6:0] == 7'd5);
  end
endmodule
