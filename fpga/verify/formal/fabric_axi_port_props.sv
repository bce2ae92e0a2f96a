// SPDX-License-Identifier: Apache-2.0
// Proves the register port for any behaviour of its manager: a waiting read waits for at most one
// write, and a waiting write for at most one read; a WRAP burst accesses no register, and each of
// its beats is answered with SLVERR and 0; answers stay until they are taken.
//
// Assumption: the manager keeps a request until it is accepted (AXI4, A3.2.1).
module fabric_axi_port_props
  import fabric_axi_pkg::*;
(
  input logic clk_i,
  input sub_req_t req_i,
  input logic [63:0] data_i,
  input logic error_i
);
  localparam int unsigned AddrBits = 21;

  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  sub_resp_t resp;
  logic access;
  logic [7:0] write;
  logic [AddrBits-1:0] addr;
  logic [63:0] data;

  fabric_axi_port #(.AddrBits(AddrBits)) dut (
    .clk_i, .rst_ni(rst_n), .req_i, .resp_o(resp), .access_o(access), .write_o(write),
    .addr_o(addr), .data_o(data), .data_i, .error_i
  );

  // States of fabric_axi_port, with the same names.
  localparam logic [1:0] Idle = 2'd0, Write = 2'd1, Answer = 2'd2, Read = 2'd3;
  logic [1:0] at;
  assign at = dut.state_q;

  logic was_rst, was_ar, was_aw, was_r, was_b, wraps;
  sub_r_t was_answer;
  logic passed_read_q, passed_write_q;
  assign wraps = at != Idle && dut.burst_q == axi_pkg::BURST_WRAP;

  always_ff @(posedge clk_i) begin
    was_rst <= rst_n;
    was_ar  <= rst_n && req_i.ar_valid && !resp.ar_ready;
    was_aw  <= rst_n && req_i.aw_valid && !resp.aw_ready;
    was_r   <= rst_n && resp.r_valid && !req_i.r_ready;
    was_b   <= rst_n && resp.b_valid && !req_i.b_ready;
    was_answer <= resp.r;
    // Transactions of the other channel that were accepted while a request waited.
    if (!rst_n || !req_i.ar_valid || resp.ar_ready) passed_read_q <= 1'b0;
    else if (resp.aw_ready && req_i.aw_valid) passed_read_q <= 1'b1;
    if (!rst_n || !req_i.aw_valid || resp.aw_ready) passed_write_q <= 1'b0;
    else if (resp.ar_ready && req_i.ar_valid) passed_write_q <= 1'b1;
  end

  always_comb begin
    if (was_ar) assume (req_i.ar_valid);
    if (was_aw) assume (req_i.aw_valid);
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // A waiting request: the other channel is served once at most before it.
      if (passed_read_q) assert (!resp.aw_ready || !req_i.aw_valid);
      if (passed_write_q) assert (!resp.ar_ready || !req_i.ar_valid);
      assert (!(resp.ar_ready && resp.aw_ready));
      // A WRAP burst: no access, an error and no data in every answer.
      if (access && at == Idle) assert (req_i.ar.burst != axi_pkg::BURST_WRAP);
      if (access && at != Idle) assert (!wraps);
      if (resp.r_valid && wraps) assert (resp.r.resp == axi_pkg::RESP_SLVERR && resp.r.data == '0);
      if (resp.b_valid && wraps) assert (resp.b.resp == axi_pkg::RESP_SLVERR);
      // Answers stay until they are taken.
      if (was_r) assert (resp.r_valid && resp.r == was_answer);
      if (was_b) assert (resp.b_valid);

      // Invariants for the induction.
      if (passed_read_q) assert (at != Read && dut.read_turn_q);
      if (passed_write_q) assert (at inside {Idle, Read} && !dut.read_turn_q);
      if (wraps) assert (dut.error_q && !dut.access_q);
      if (wraps && at == Read) assert (dut.data_q == '0);
    end
    cover (rst_n && passed_read_q && resp.ar_ready);
    cover (rst_n && resp.r_valid && wraps && req_i.r_ready && dut.left_q == '0);
  end
endmodule
