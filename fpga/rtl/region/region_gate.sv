// SPDX-License-Identifier: Apache-2.0
// Decouples one region: while couple_i is low, all outputs of the region are forced to 0. Purely
// combinational, so that decoupling takes effect in the cycle in which couple_i falls.
module region_gate
  import fabric_pkg::*;
(
  input  logic  couple_i,
  // the region's side
  input  logic  stopped_i,
  input  logic  over_i,
  input  logic [31:0] result_i,
  input  logic  in_ready_i,
  input  word_t out_data_i,
  input  logic  out_valid_i,
  input  logic  out_last_i,
  input  logic  ctx_ready_i,
  input  word_t ctx_data_i,
  input  logic  ctx_valid_i,
  input  logic  ctx_last_i,
  // the static side
  output logic  stopped_o,
  output logic  over_o,
  output logic [31:0] result_o,
  output logic  in_ready_o,
  output word_t out_data_o,
  output logic  out_valid_o,
  output logic  out_last_o,
  output logic  ctx_ready_o,
  output word_t ctx_data_o,
  output logic  ctx_valid_o,
  output logic  ctx_last_o
);

  assign stopped_o   = couple_i & stopped_i;
  assign over_o      = couple_i & over_i;
  assign result_o    = couple_i ? result_i : '0;
  assign in_ready_o  = couple_i & in_ready_i;
  assign out_data_o  = couple_i ? out_data_i : '0;
  assign out_valid_o = couple_i & out_valid_i;
  assign out_last_o  = couple_i & out_last_i;
  assign ctx_ready_o = couple_i & ctx_ready_i;
  assign ctx_data_o  = couple_i ? ctx_data_i : '0;
  assign ctx_valid_o = couple_i & ctx_valid_i;
  assign ctx_last_o  = couple_i & ctx_last_i;

endmodule
