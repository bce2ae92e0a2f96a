// SPDX-License-Identifier: Apache-2.0
// DRAM in simulation: C++ keeps its content (main.cc). Requests of a direction are served in their
// order. The first beat of a read, and the answer to a write, come latency_i cycles after the
// request has become the first one; the other beats follow one a cycle.
module soc_memory
  import fabric_axi_pkg::*;
(
  input  logic      clk_i,
  input  logic      rst_ni,
  /// At least 1.
  input  logic [7:0] latency_i,
  input  sub_req_t  req_i,
  output sub_resp_t resp_o
);

  import "DPI-C" function longint unsigned soc_memory_read(input longint unsigned addr);
  import "DPI-C" function void soc_memory_write(
    input longint unsigned addr, input longint unsigned data, input byte unsigned strobes
  );

  typedef struct packed {
    sub_id_t     id;
    logic [63:0] addr;
    logic [7:0]  len;
    logic [2:0]  size;
  } burst_t;

  burst_t ar, aw;
  logic ar_valid, aw_valid, ar_done, aw_done;
  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(4), .T(burst_t)) i_ar (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .testmode_i(1'b0),
    .usage_o(),
    .data_i('{id: req_i.ar.id, addr: req_i.ar.addr, len: req_i.ar.len, size: req_i.ar.size}),
    .valid_i(req_i.ar_valid),
    .ready_o(resp_o.ar_ready),
    .data_o(ar),
    .valid_o(ar_valid),
    .ready_i(ar_done)
  );
  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(4), .T(burst_t)) i_aw (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .testmode_i(1'b0),
    .usage_o(),
    .data_i('{id: req_i.aw.id, addr: req_i.aw.addr, len: req_i.aw.len, size: req_i.aw.size}),
    .valid_i(req_i.aw_valid),
    .ready_o(resp_o.aw_ready),
    .data_o(aw),
    .valid_o(aw_valid),
    .ready_i(aw_done)
  );

  // ---- Reads ----
  logic [7:0] read_beat_q, read_wait_q;
  logic read_now;
  assign read_now = ar_valid && read_wait_q + 8'd1 >= latency_i
                    && (!resp_o.r_valid || req_i.r_ready);
  assign ar_done  = read_now && read_beat_q == ar.len;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_beat_q    <= '0;
      read_wait_q    <= '0;
      resp_o.r_valid <= 1'b0;
      resp_o.r       <= '0;
    end else begin
      if (!ar_valid || ar_done) read_wait_q <= '0;
      else if (read_wait_q + 8'd1 < latency_i) read_wait_q <= read_wait_q + 1'b1;
      if (read_now) begin
        resp_o.r    <= '{id: ar.id, data: soc_memory_read(ar.addr + (64'(read_beat_q) << ar.size)),
                         resp: axi_pkg::RESP_OKAY, last: ar_done, user: '0};
        read_beat_q <= ar_done ? '0 : read_beat_q + 1'b1;
      end
      if (read_now || req_i.r_ready) resp_o.r_valid <= read_now;
    end
  end

  // ---- Writes ----
  logic [7:0] write_beat_q, write_wait_q;
  logic write_now;
  assign resp_o.w_ready = aw_valid && write_wait_q + 8'd1 >= latency_i && !resp_o.b_valid;
  assign write_now      = resp_o.w_ready && req_i.w_valid;
  assign aw_done        = write_now && req_i.w.last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_beat_q   <= '0;
      write_wait_q   <= '0;
      resp_o.b_valid <= 1'b0;
      resp_o.b       <= '0;
    end else begin
      if (!aw_valid || aw_done) write_wait_q <= '0;
      else if (write_wait_q + 8'd1 < latency_i) write_wait_q <= write_wait_q + 1'b1;
      if (write_now) begin
        soc_memory_write(aw.addr + (64'(write_beat_q) << aw.size), req_i.w.data, req_i.w.strb);
        write_beat_q <= aw_done ? '0 : write_beat_q + 1'b1;
      end
      if (aw_done) resp_o.b <= '{id: aw.id, resp: axi_pkg::RESP_OKAY, user: '0};
      if (aw_done || req_i.b_ready) resp_o.b_valid <= aw_done;
    end
  end

  // Both caches of CVA6 send INCR bursts only, if it is configured to be AXI-compliant.
  always_ff @(posedge clk_i) begin
    if (rst_ni && req_i.ar_valid)
      assert (req_i.ar.burst == axi_pkg::BURST_INCR || req_i.ar.len == '0);
    if (rst_ni && req_i.aw_valid)
      assert (req_i.aw.burst == axi_pkg::BURST_INCR || req_i.aw.len == '0);
  end

  logic unused;
  assign unused = &{1'b0, req_i};

endmodule
