// SPDX-License-Identifier: Apache-2.0
// Proves the copy device for all chunks, readers, writers and aborts: it ends only when no burst
// can follow; with status 0 all bytes of the chunk were passed on and written without an error,
// otherwise it reports 0 bytes; each byte that it takes goes to the writer; and an area that leaves
// its 4 GiB, or would with the next chunk, is not accessed.
module io_copy_props
  import fabric_pkg::*;
  import io_pkg::*;
(
  input logic clk_i,
  input logic start_i, abort_i, read_valid_i, read_begin_i, read_over_i, write_ready_i,
      write_done_i,
  input io_chunk_t chunk_i,
  input logic [7:0] read_byte_i,
  input io_status_e read_fails_i, write_fails_i
);
  localparam logic [1:0] Idle = 2'd0, Copy = 2'd1, Drain = 2'd2, End = 2'd3;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic done, read_start, read_stop, read_ready, write_start, write_valid, write_end;
  logic [7:0] write_byte;
  addr_t read_addr;
  io_result_t result;
  io_status_e read_status_q = IoDone, write_status_q = IoDone;
  logic read_quiet, read_valid;

  // The chunk is stable until done_o.
  io_chunk_t chunk, chunk_q;
  assign chunk = dut.state_q == Idle ? chunk_i : chunk_q;
  always_ff @(posedge clk_i) chunk_q <= chunk;

  io_copy dut (
    .clk_i, .rst_ni(rst_n), .start_i(start_i && rst_n), .chunk_i(chunk), .abort_i, .done_o(done),
    .result_o(result), .read_start_o(read_start), .read_addr_o(read_addr), .read_stop_o(read_stop),
    .read_valid_i(read_valid), .read_byte_i, .read_ready_o(read_ready),
    .read_status_i(read_status_q), .read_quiet_i(read_quiet), .write_start_o(write_start),
    .write_valid_o(write_valid), .write_byte_o(write_byte), .write_ready_i, .write_end_o(write_end),
    .write_done_i, .write_status_i(write_status_q)
  );

  // The reader (io_reader): the last byte comes when all bursts are over. It is quiet when all
  // bytes are taken, or after a failure or a stop when the last burst is over.
  io_length_t left_q = '0;
  logic burst_q = 1'b0;
  assign read_quiet = left_q == '0 && !burst_q;
  assign read_valid = read_valid_i && left_q != '0 && (left_q != 16'd1 || !burst_q);
  always_ff @(posedge clk_i) begin
    if (read_start) begin
      left_q        <= chunk.bytes;
      burst_q       <= 1'b1;
      read_status_q <= IoDone;
    end else begin
      if (read_valid && read_ready) left_q <= left_q - 1'b1;
      burst_q <= burst_q ? !read_over_i : read_begin_i && left_q > 16'd1 && !read_stop;
      if (burst_q && read_over_i) read_status_q <= read_fails_i;
      if (read_stop || (burst_q && read_over_i && read_fails_i != IoDone)) left_q <= '0;
    end
  end

  // The writer (io_writer): done some time after the end.
  logic open_q = 1'b0, ended_q = 1'b0;
  always_ff @(posedge clk_i) begin
    if (write_start) begin
      open_q         <= 1'b1;
      ended_q        <= 1'b0;
      write_status_q <= IoDone;
    end else begin
      if (write_end) ended_q <= 1'b1;
      if (write_done_i) open_q <= 1'b0;
      if (open_q && !write_done_i && write_status_q == IoDone) write_status_q <= write_fails_i;
    end
  end
  always_comb begin
    if (write_done_i) assume (open_q && ended_q);
    assume (read_fails_i inside {IoDone, IoViolation, IoBus});
    assume (write_fails_i inside {IoDone, IoViolation, IoBus});
  end

  io_length_t passed_q = '0;
  always_ff @(posedge clk_i) passed_q <= read_start ? '0
                                         : passed_q + 16'(write_valid && write_ready_i);

  // The first bytes behind the areas, from the begin of their 4 GiB on.
  logic [32:0] dest_end, source_end;
  assign dest_end   = {1'b0, chunk.addr[31:0]} + 33'(chunk.bytes);
  assign source_end = {1'b0, chunk.target} + 33'(chunk.bytes);

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (!open_q && read_quiet);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (open_q == (dut.state_q inside {Copy, Drain}));
    if (open_q) assert (ended_q == (dut.state_q == Drain));
    if (dut.state_q == Idle) assert (read_quiet);
    if (dut.state_q == Copy && read_status_q == IoDone)
      assert (17'(passed_q) + 17'(left_q) == 17'(chunk.bytes));
    if (read_status_q != IoDone) assert (left_q == '0);
    if (dut.state_q == Copy && left_q == '0) assert (!burst_q);
    if (dut.state_q == Drain && dut.status_q == IoDone)
      assert (passed_q == chunk.bytes && read_quiet && read_status_q == IoDone);

    assert (read_start == write_start);
    if (read_start) begin
      assert (dut.state_q == Idle && chunk.op == 8'd0 && chunk.bytes != '0);
      assert (dest_end < 33'h1_0000_0000 || (dest_end == 33'h1_0000_0000 && chunk.last));
      assert (source_end < 33'h1_0000_0000 || (source_end == 33'h1_0000_0000 && chunk.last));
      assert (read_addr[31:0] == chunk.target
              && read_addr[AddrWidth-1:32] == chunk.addr[AddrWidth-1:32]);
    end
    if (read_valid && read_ready)
      assert (write_valid && write_ready_i && write_byte == read_byte_i);
    if (write_valid && write_ready_i) assert (read_valid && read_ready && dut.state_q == Copy);
    if (done) begin
      assert (!open_q && read_quiet && result.bytes == (result.status == IoDone ? chunk.bytes : '0)
              && !result.again);
      if (result.status == IoDone)
        assert (passed_q == chunk.bytes && read_status_q == IoDone && write_status_q == IoDone);
    end
    if (dut.state_q == End && dut.status_q == IoDone)
      assert (passed_q == chunk.bytes && read_quiet && read_status_q == IoDone
              && write_status_q == IoDone);
    cover (done && result.status == IoDone && result.bytes == 16'd4);
    cover (done && result.status == IoTimeout);
    cover (done && result.status == IoBus && passed_q == 16'd3);
    cover (done && result.status == IoBad && chunk.addr[31:0] == 32'hFFFFFFF0
           && chunk.bytes == 16'd16);
  end
endmodule
