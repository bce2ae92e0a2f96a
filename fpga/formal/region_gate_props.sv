// SPDX-License-Identifier: Apache-2.0
// Proves region_gate: decoupled, every output is 0; coupled, the gate is transparent.
module region_gate_props
  import fabric_pkg::*;
(
  input logic clk_i,
  input logic couple_i,
  input logic stopped_i, over_i, in_ready_i, out_valid_i, out_last_i, ctx_ready_i, ctx_valid_i, ctx_last_i,
  input logic [31:0] result_i,
  input word_t out_data_i, ctx_data_i
);
  logic stopped, over, in_ready, out_valid, out_last, ctx_ready, ctx_valid, ctx_last;
  logic [31:0] result;
  word_t out_data, ctx_data;

  region_gate dut (
    .couple_i, .stopped_i, .over_i, .result_i, .in_ready_i, .out_data_i, .out_valid_i, .out_last_i, .ctx_ready_i,
    .ctx_data_i, .ctx_valid_i, .ctx_last_i, .stopped_o(stopped), .over_o(over), .result_o(result),
    .in_ready_o(in_ready), .out_data_o(out_data), .out_valid_o(out_valid), .out_last_o(out_last),
    .ctx_ready_o(ctx_ready), .ctx_data_o(ctx_data), .ctx_valid_o(ctx_valid), .ctx_last_o(ctx_last)
  );

  logic [7:0] flags_in, flags_out;
  assign flags_in  = {stopped_i, over_i, in_ready_i, out_valid_i, out_last_i, ctx_ready_i, ctx_valid_i, ctx_last_i};
  assign flags_out = {stopped, over, in_ready, out_valid, out_last, ctx_ready, ctx_valid, ctx_last};

  always_ff @(posedge clk_i) begin
    if (!couple_i) assert (flags_out == '0 && result == '0 && out_data == '0 && ctx_data == '0);
    else assert (flags_out == flags_in && result == result_i && out_data == out_data_i && ctx_data == ctx_data_i);
    cover (couple_i && out_valid && ctx_last);
  end
endmodule
