// SPDX-License-Identifier: Apache-2.0
// Proves that no byte of a frame that is forbidden is offered to the transmitter, for all frames,
// memories, lines and aborts: a frame is opened with its whole header only, in which nothing is
// forbidden; its bytes 6 to 11 enter the queue as the VM's address, its tag as the VM's VLAN; and
// with a forbidden byte it is discarded before it was opened. That the queue keeps the order of its
// bytes is not proven here, but seen in the bench.
//
// Proves also that a frame enters the queue behind nothing but the last Ahead bytes of one frame,
// which is on the wire, and that a chunk without a timeout ends only when that holds for the next
// one.
module io_eth_send_props
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  localparam int unsigned Bytes = 32,
  localparam int unsigned Threshold = 14,
  localparam int unsigned Ahead = 8,
  localparam logic [1:0] Idle = 2'd0, Fill = 2'd1  // states of the driver
) (
  input logic clk_i,
  input logic start_i, abort_i, read_valid_i, read_quiet_i, ready_i, starved_i, begun_i,
  input io_chunk_t chunk_i,
  input logic [7:0] read_byte_i,
  input io_status_e read_status_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  (* keep *) io_eth_vm_t row;
  always_ff @(posedge clk_i) row <= row;

  logic done, forged, read_start, read_stop, read_ready, valid, last, abort;
  logic [7:0] data;
  io_result_t result;
  io_eth_send #(.Bytes(Bytes), .Threshold(Threshold), .Ahead(Ahead)) dut (
    .clk_i, .rst_ni(rst_n), .start_i, .chunk_i, .abort_i, .done_o(done), .result_o(result), .vm_o(),
    .row_i(row), .forged_o(forged), .read_start_o(read_start), .read_stop_o(read_stop),
    .read_valid_i, .read_byte_i, .read_ready_o(read_ready), .read_status_i, .read_quiet_i,
    .valid_o(valid), .byte_o(data), .last_o(last), .ready_i, .abort_o(abort), .starved_i, .begun_i
  );

  // The chunk is stable from start_i to done_o.
  logic past = 1'b0;
  io_chunk_t chunk_q;
  always_ff @(posedge clk_i) begin
    past    <= 1'b1;
    chunk_q <= chunk_i;
  end
  always_comb begin
    if (past && dut.state_q != Idle) assume (chunk_i == chunk_q);
    if (!past) assume (!start_i);
    assume (read_status_i inside {IoDone, IoViolation, IoBus});
  end

  // The header by the definition: what the reader has given.
  logic [13:0][7:0] header_q;
  always_ff @(posedge clk_i) begin
    if (read_valid_i && read_ready && dut.index_q < 11'd14)
      header_q[dut.index_q[3:0]] <= read_byte_i;
  end

  function automatic logic [7:0] own_byte(logic [4:0] at);
    return row.mac[8*(3'd5-3'(at-5'd6))+:8];
  endfunction

  function automatic logic [7:0] tag_byte(logic [4:0] at);
    if (at == 5'd12) return 8'h81;
    if (at == 5'd13) return 8'h00;
    return at == 5'd14 ? {4'b0, row.vlan[11:8]} : row.vlan[7:0];
  endfunction

  // What may be at a position of a frame; position 16 stands for all later ones.
  function automatic logic right(logic [4:0] at, logic [7:0] value);
    if (at >= 5'd6 && at < 5'd12) return value == own_byte(at);
    return !(row.in_vlan && at >= 5'd12 && at < 5'd16) || value == tag_byte(at);
  endfunction

  logic [11:0] position;
  logic [4:0] write_at;
  assign position = 12'(dut.index_q) + 12'(dut.tag_q);
  assign write_at = position >= 12'd16 ? 5'd16 : position[4:0];

  logic own_open;  // the frame that arrives has begun
  assign own_open = dut.i_queue.open_q && dut.i_queue.whole_q == '0;

  // The last bytes leave the queue as they have entered it.
  always_comb begin
    if (dut.i_queue.leaves) assume (dut.i_queue.whole_q != '0);
    assume (dut.i_queue.whole_q <= 6'(Bytes));
  end

  logic first_byte;  // of a frame enters the queue
  assign first_byte = dut.i_queue.push && dut.index_q == '0;

  // The header is forbidden with the byte that is taken.
  logic own_forbidden;
  assign own_forbidden = dut.index_q == 11'd13
                         && ({header_q[12], read_byte_i} inside {16'h8100, 16'h88A8, 16'h8808});

  // The first cycle, which is the only one of the reset.
  always_ff @(posedge clk_i) if (!rst_n) assert (!past);

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants of the driver
    assert (dut.state_q <= 2'd2 && dut.tag_q <= 3'd4);
    if (dut.state_q == Fill) begin
      assert (row.enabled && chunk_i.op == OpSend && chunk_i.bytes >= 16'd14
              && chunk_i.bytes <= 16'd1514);
      assert (16'(dut.index_q) < chunk_i.bytes);
      assert (dut.tag_q == '0 || (row.in_vlan && dut.index_q >= 11'd12));
      assert (dut.index_q <= 11'd12 || dut.tag_q == (row.in_vlan ? 3'd4 : 3'd0));
      for (int b = 0; b < 6; b++)
        if (dut.index_q > 11'(b + 6)) assert (header_q[b+6] == own_byte(5'(b + 6)));
      if (dut.index_q == 11'd13) assert (dut.i_check.last_q == header_q[12]);
      if (dut.index_q >= 11'd14)
        assert (!({header_q[12], header_q[13]} inside {16'h8100, 16'h88A8, 16'h8808}));
      for (int b = 1; b < 6; b++)
        if (dut.index_q == 11'(b)) assert (dut.i_check.link_q == link(b));
      if (dut.index_q > 11'd5) assert (!(link(5) && header_q[5][7:4] == '0));
    end

    // the frame that arrives begins with a whole header only, in which nothing is forbidden
    if (own_open) assert (dut.state_q == Fill && dut.index_q >= 11'd14);
    if (valid) assert (dut.i_queue.whole_q != '0 || dut.index_q >= 11'd14);
    if (dut.i_queue.push) assert (right(write_at, dut.push_byte));
    if (dut.i_queue.arrives) assert (dut.index_q >= 11'd13 && !own_forbidden);
    if (forged) assert (!own_open);
    if (forged) assert (dut.discard && !dut.i_queue.push);
    // what a frame waits for
    assert (dut.i_queue.whole_q <= 6'd2);
    if (dut.state_q == Fill && dut.index_q != '0) assert (dut.i_queue.whole_q <= 6'd1);
    if (first_byte) assert (dut.i_queue.whole_q == '0 || (dut.i_queue.whole_q == 6'd1 && begun_i));
    if (first_byte) assert (dut.i_queue.level <= 6'(Ahead));
    if (done && !abort_i)
      assert (dut.i_queue.level <= 6'(Ahead)
              && (dut.i_queue.whole_q == '0 || (dut.i_queue.whole_q == 6'd1 && begun_i)));
    cover (first_byte && dut.i_queue.whole_q == 6'd1);
    if (done && result.status != IoDone) assert (result.bytes == '0);
    cover (valid && ready_i && row.in_vlan);
    cover (valid && forged);
    cover (abort && starved_i);
  end

  // The first bytes are those of an address that controls the link.
  function automatic logic link(int number);
    logic [4:0][7:0] group = {8'h00, 8'h00, 8'hC2, 8'h80, 8'h01};
    for (int b = 0; b < 5; b++) if (b < number && header_q[b] != group[b]) return 1'b0;
    return 1'b1;
  endfunction
endmodule
