// SPDX-License-Identifier: Apache-2.0
// Proves the choice of the next burst for all requests, guards and memories: the background gets a
// burst only if no other client requests, or if MaxPassing have passed it; while any of its clients
// waits, no more than MaxPassing bursts of the others pass before one of the two gets a burst,
// which need not be the one that waits longest; a burst goes to one client that requests it; and of
// two clients that are not in the background, neither gets two bursts while the other one waits.
module io_dma_props
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumClients = 5,
  localparam logic [NumClients-1:0] Background = 5'b11000,
  localparam int unsigned MaxPassing = NumClients - 2
) (
  input logic clk_i,
  input logic [NumClients-1:0] request_i,
  input io_burst_t [NumClients-1:0] burst_i,
  input io_word_t [NumClients-1:0] word_i,
  input logic check_gnt_i, ok_i, bad_i,
  input addr_t addr_i,
  input slot_resp_t axi_resp_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic [NumClients-1:0] take, give, done;
  logic check;
  dma_check_t check_request;
  io_dma #(.NumClients(NumClients), .Background(Background)) dut (
    .clk_i, .rst_ni(rst_n), .request_i, .burst_i, .word_i, .take_o(take), .data_o(), .give_o(give),
    .done_o(done), .status_o(), .check_o(check), .check_request_o(check_request), .check_gnt_i,
    .ok_i, .bad_i, .addr_i, .axi_req_o(), .axi_resp_i
  );

  // A request is stable until its burst is over.
  logic [NumClients-1:0] request_q = '0, done_q = '0;
  always_ff @(posedge clk_i) begin
    request_q <= request_i;
    done_q    <= done;
  end
  always_comb if (!rst_n) assume (request_i == '0);
  always_comb assume ((request_q & ~done_q & ~request_i) == '0);

  logic grant;
  logic [NumClients-1:0] chosen, rest;
  assign grant  = check && check_gnt_i;
  assign chosen = dut.chosen;
  assign rest   = request_i & ~Background;

  // Bursts of others since a client in the background waits: the definition.
  logic [7:0] passed_q = '0;
  always_ff @(posedge clk_i) begin
    if ((request_i & Background) == '0 || (grant && (chosen & Background) != '0)) passed_q <= '0;
    else if (grant) passed_q <= passed_q + 1'b1;
  end

  // Any two of the clients that are not in the background; what the one got since the other one
  // waits.
  (* keep *) logic [1:0] one, other;
  logic twice_q = 1'b0;
  always_ff @(posedge clk_i) begin
    one   <= one;
    other <= other;
    if (!request_i[other] || (grant && chosen[other])) twice_q <= 1'b0;
    else if (grant && chosen[one]) twice_q <= 1'b1;
  end
  always_comb assume (one < 2'd3 && other < 2'd3 && one != other);

  always_ff @(posedge clk_i) if (rst_n) begin
    if (grant) assert ((chosen & request_i) == chosen && $onehot(chosen));
    if (grant && (chosen & Background) != '0) assert (rest == '0 || passed_q == 8'(MaxPassing));
    assert (passed_q <= 8'(MaxPassing));
    assert (passed_q == 8'(dut.passing_q));
    if (grant && twice_q && request_i[other]) assert (!chosen[one]);
    for (int c = 0; c < 2; c++) assert (!dut.after_q[c] || dut.after_q[c+1]);
    if (twice_q && request_i[other] && other > one)
      assert (dut.after_q[other] && !dut.after_q[one]);
    if (twice_q && request_i[other] && other < one) assert (dut.after_q[other] == dut.after_q[one]);
    cover (grant && (chosen & Background) != '0 && rest != '0);
    cover (grant && passed_q == 8'd2);
  end

  logic unused;
  assign unused = &{1'b0, take, give, check_request};
endmodule
