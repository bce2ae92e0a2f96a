// SPDX-License-Identifier: Apache-2.0
// AXI subordinate in front of the emulated machine's memory, which C++ reads and writes. One beat a
// cycle in each direction, in the order of the requests. Only INCR bursts of 64-bit beats, which is
// what the fabric sends (cosim_axi_check).
module cosim_memory
  import fabric_axi_pkg::*;
(
  input  logic      clk_i,
  /// Asynchronous, active low; no request waits after it. The memory is the machine's.
  input  logic      rst_ni,
  /// Further cycles before the first word of a burst.
  input  logic [7:0] latency_i,
  /// AXI4; up to four bursts of a direction wait, then ready falls. Reads and writes do not wait
  /// for each other.
  input  mgr_req_t  req_i,
  output mgr_resp_t resp_o
);

  /// Both return the AXI response: 0, or an error where the machine has no RAM.
  import "DPI-C" function int unsigned cosim_read(input longint unsigned addr,
                                                  output longint unsigned data);
  import "DPI-C" function int unsigned cosim_write(
    input longint unsigned addr, input longint unsigned data, input int unsigned strb
  );

  typedef struct packed {
    mgr_id_t     id;
    logic [63:0] addr;
    logic [7:0]  len;
  } burst_t;

  burst_t ar, aw;
  logic ar_valid, aw_valid, ar_done, aw_done;

  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(4), .T(burst_t)) i_ar (
    .clk_i, .rst_ni, .flush_i(1'b0), .testmode_i(1'b0), .usage_o(),
    .data_i('{id: req_i.ar.id, addr: req_i.ar.addr, len: req_i.ar.len}),
    .valid_i(req_i.ar_valid), .ready_o(resp_o.ar_ready), .data_o(ar), .valid_o(ar_valid),
    .ready_i(ar_done)
  );
  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(4), .T(burst_t)) i_aw (
    .clk_i, .rst_ni, .flush_i(1'b0), .testmode_i(1'b0), .usage_o(),
    .data_i('{id: req_i.aw.id, addr: req_i.aw.addr, len: req_i.aw.len}),
    .valid_i(req_i.aw_valid), .ready_o(resp_o.aw_ready), .data_o(aw), .valid_o(aw_valid),
    .ready_i(aw_done)
  );

  // ---- Reads ----
  logic [7:0] read_beat_q, read_wait_q;
  logic read_now;
  assign read_now = ar_valid && read_wait_q >= latency_i && (!resp_o.r_valid || req_i.r_ready);
  assign ar_done  = read_now && read_beat_q == ar.len;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    automatic longint unsigned data;
    automatic int unsigned resp;
    data = 0;
    resp = 0;
    if (!rst_ni) begin
      read_beat_q    <= '0;
      read_wait_q    <= '0;
      resp_o.r_valid <= 1'b0;
      resp_o.r       <= '0;
    end else begin
      read_wait_q <= !ar_valid || ar_done ? '0 : read_wait_q + 8'(read_wait_q < latency_i);
      if (read_now) begin
        resp = cosim_read(ar.addr + {53'b0, read_beat_q, 3'b0}, data);
        resp_o.r    <= '{id: ar.id, data: data, resp: resp[1:0], last: ar_done, user: '0};
        read_beat_q <= ar_done ? '0 : read_beat_q + 1'b1;
      end
      if (read_now || req_i.r_ready) resp_o.r_valid <= read_now;
    end
  end

  // ---- Writes ----
  logic [7:0] write_beat_q, write_wait_q;
  logic [1:0] write_resp_q;
  logic write_now;
  assign resp_o.w_ready = aw_valid && write_wait_q >= latency_i && !resp_o.b_valid;
  assign write_now      = resp_o.w_ready && req_i.w_valid;
  assign aw_done        = write_now && req_i.w.last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    automatic int unsigned resp;
    resp = 0;
    if (!rst_ni) begin
      write_beat_q   <= '0;
      write_wait_q   <= '0;
      write_resp_q   <= '0;
      resp_o.b_valid <= 1'b0;
      resp_o.b       <= '0;
    end else begin
      write_wait_q <= !aw_valid || aw_done ? '0 : write_wait_q + 8'(write_wait_q < latency_i);
      if (write_now) begin
        resp = cosim_write(aw.addr + {53'b0, write_beat_q, 3'b0}, req_i.w.data, 32'(req_i.w.strb));
        write_resp_q <= aw_done ? '0 : write_resp_q | resp[1:0];
        write_beat_q <= aw_done ? '0 : write_beat_q + 1'b1;
      end
      if (aw_done) resp_o.b <= '{id: aw.id, resp: write_resp_q | resp[1:0], user: '0};
      if (aw_done || req_i.b_ready) resp_o.b_valid <= aw_done;
    end
  end

  logic unused;
  assign unused = &{1'b0, req_i};

endmodule
