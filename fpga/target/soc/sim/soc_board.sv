// SPDX-License-Identifier: Apache-2.0
// The board of the simulation, for programs that test the SoC: they end the simulation, raise the
// board's interrupts, and read when a pin rose. Registers of 64 bits: 0 end of the simulation, with
// a code; 8 interrupts; 16 the time at which pin 0 rose last; 24 how often it rose.
module soc_board
  import fabric_axi_pkg::*;
  import soc_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  sub_req_t    req_i,
  output sub_resp_t   resp_o,
  output logic [BoardSources-1:0] irq_o,
  input  logic [63:0] time_i,
  input  logic        pin_i,
  output logic        ends_o,
  output logic [7:0]  code_o
);

  sub_req_t plain_req;
  sub_resp_t plain_resp;
  logic access, pin_q;
  logic [7:0] write;
  logic [4:0] addr;
  logic [63:0] data, answer_q, rose_q, count_q;

  axi_atop_filter #(
    .AxiIdWidth(SubIdWidth), .AxiMaxWriteTxns(2), .req_t(sub_req_t), .resp_t(sub_resp_t)
  ) i_no_atomics (
    .clk_i,
    .rst_ni,
    .slv_req_i(req_i),
    .slv_resp_o(resp_o),
    .mst_req_o(plain_req),
    .mst_resp_i(plain_resp)
  );
  fabric_axi_port #(.AddrBits(5)) i_port (
    .clk_i,
    .rst_ni,
    .req_i(plain_req),
    .resp_o(plain_resp),
    .access_o(access),
    .write_o(write),
    .addr_o(addr),
    .data_o(data),
    .data_i(answer_q),
    .error_i(1'b0)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {ends_o, code_o, irq_o, pin_q} <= '0;
      {answer_q, rose_q, count_q} <= '0;
    end else begin
      pin_q <= pin_i;
      if (pin_i && !pin_q) begin
        rose_q  <= time_i;
        count_q <= count_q + 1'b1;
      end
      if (access && write != '0 && addr[4:3] == 2'd0) begin
        ends_o <= 1'b1;
        code_o <= data[7:0];
      end
      if (access && write != '0 && addr[4:3] == 2'd1) irq_o <= data[BoardSources-1:0];
      unique case (addr[4:3])
        2'd1:    answer_q <= 64'(irq_o);
        2'd2:    answer_q <= rose_q;
        2'd3:    answer_q <= count_q;
        default: answer_q <= '0;
      endcase
    end
  end

  logic unused;
  assign unused = &{1'b0, addr[2:0], data};

endmodule
