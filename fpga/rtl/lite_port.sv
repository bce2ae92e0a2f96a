// SPDX-License-Identifier: Apache-2.0
// From AXI4-Lite to what the fabric's registers want: one access a cycle, answered in the next one.
module lite_port
  import fabric_axi_pkg::*;
#(
  parameter int unsigned AddrBits = 21
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  lite_req_t  req_i,
  output lite_resp_t resp_o,
  output logic       access_o,
  output logic [7:0] write_o,                 // a bit for each byte; none: a read
  output logic [AddrBits-1:0] addr_o,
  output logic [63:0] data_o,
  input  logic [63:0] data_i,                 // in the cycle after access_o
  input  logic       error_i                  // with data_i
);

  logic writing, reading, read_q, write_q, waits_b_q, waits_r_q, error_q, b_error, r_error;
  logic [63:0] data_q;

  // A write goes first; neither begins while an answer of its kind waits to be taken.
  assign writing = req_i.aw_valid && req_i.w_valid && !write_q && !(waits_b_q && !req_i.b_ready);
  assign reading = req_i.ar_valid && !writing && !read_q && !(waits_r_q && !req_i.r_ready);

  assign access_o = writing || reading;
  assign write_o  = writing ? req_i.w.strb : '0;
  assign addr_o   = writing ? req_i.aw.addr[AddrBits-1:0] : req_i.ar.addr[AddrBits-1:0];
  assign data_o   = req_i.w.data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q    <= 1'b0;
      write_q   <= 1'b0;
      waits_b_q <= 1'b0;
      waits_r_q <= 1'b0;
      error_q   <= 1'b0;
      b_error   <= 1'b0;
      data_q    <= '0;
    end else begin
      read_q    <= reading;
      write_q   <= writing;
      waits_b_q <= (write_q || waits_b_q) && !req_i.b_ready;
      waits_r_q <= (read_q || waits_r_q) && !req_i.r_ready;
      if (write_q) b_error <= error_i;
      if (read_q) begin
        data_q  <= data_i;
        error_q <= error_i;
      end
    end
  end

  assign r_error = read_q ? error_i : error_q;
  always_comb begin
    resp_o          = '0;
    resp_o.aw_ready = writing;
    resp_o.w_ready  = writing;
    resp_o.ar_ready = reading;
    resp_o.b_valid  = write_q || waits_b_q;
    resp_o.b.resp   = (write_q ? error_i : b_error) ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
    resp_o.r_valid  = read_q || waits_r_q;
    resp_o.r.data   = read_q ? data_i : data_q;
    resp_o.r.resp   = r_error ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
  end

  logic unused;
  assign unused = &{1'b0, req_i.aw.prot, req_i.ar.prot, req_i.aw.addr[63:AddrBits], req_i.ar.addr[63:AddrBits]};

endmodule
