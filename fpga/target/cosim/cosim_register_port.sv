// SPDX-License-Identifier: Apache-2.0
// AXI manager that makes one access at a time, as an uncached load or store of a hart does. All of
// its outputs are registers.
module cosim_register_port
  import fabric_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  /// Pulse; not before the access before has its answer.
  input  logic        start_i,
  input  logic        write_i,
  input  logic [63:0] addr_i,
  /// log2 of the bytes; the address is a multiple of them.
  input  logic [1:0]  size_i,
  /// In the lowest bytes.
  input  logic [63:0] data_i,
  /// Pulse: resp_o and data_o are valid.
  output logic        done_o,
  output logic [1:0]  resp_o,
  output logic [63:0] data_o,
  output sub_req_t    req_o,
  /// B and R are always accepted.
  input  sub_resp_t   resp_i
);

  logic [63:0] addr_q, data_q;
  logic [7:0] strb_q;
  logic [1:0] size_q;
  logic aw_q, w_q, ar_q;
  logic [5:0] lane, lane_q;

  assign lane   = {addr_i[2:0], 3'b0};
  assign lane_q = {addr_q[2:0], 3'b0};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, ar_q, done_o} <= '0;
      {addr_q, data_q, strb_q, size_q, resp_o, data_o} <= '0;
    end else begin
      done_o <= resp_i.b_valid || resp_i.r_valid;
      if (resp_i.aw_ready) aw_q <= 1'b0;
      if (resp_i.w_ready) w_q <= 1'b0;
      if (resp_i.ar_ready) ar_q <= 1'b0;
      if (resp_i.b_valid) resp_o <= resp_i.b.resp;
      if (resp_i.r_valid) begin
        resp_o <= resp_i.r.resp;
        data_o <= resp_i.r.data >> lane_q;
      end
      if (start_i) begin
        aw_q   <= write_i;
        w_q    <= write_i;
        ar_q   <= !write_i;
        addr_q <= addr_i;
        size_q <= size_i;
        data_q <= data_i << lane;
        strb_q <= ((8'h01 << (4'h1 << size_i)) - 8'h01) << addr_i[2:0];
      end
    end
  end

  always_comb begin
    req_o          = '0;
    req_o.aw.addr  = addr_q;
    req_o.aw.size  = {1'b0, size_q};
    req_o.aw.burst = axi_pkg::BURST_INCR;
    req_o.aw_valid = aw_q;
    req_o.ar.addr  = addr_q;
    req_o.ar.size  = {1'b0, size_q};
    req_o.ar.burst = axi_pkg::BURST_INCR;
    req_o.ar_valid = ar_q;
    req_o.w        = '{data: data_q, strb: strb_q, last: 1'b1, user: '0};
    req_o.w_valid  = w_q;
    req_o.b_ready  = 1'b1;
    req_o.r_ready  = 1'b1;
  end

  logic unused;
  assign unused = &{1'b0, resp_i};

endmodule
