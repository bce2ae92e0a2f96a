// SPDX-License-Identifier: Apache-2.0
// HW task: 64-QAM. Input: bits; output: two symbols a beat (qam_mapper). No command, no result.
module hwtask_qam64 (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic             resume_i,
  input  logic             stop_i,
  input  logic [31:0]      cmd_i,
  input  logic [31:0]      size_i,
  input  logic [7:0][31:0] custom_i,
  output logic             stopped_o,
  output logic             over_o,
  output logic [31:0]      result_o,
  input  logic [63:0]      in_data_i,
  input  logic             in_valid_i,
  input  logic             in_last_i,
  output logic             in_ready_o,
  output logic [63:0]      out_data_o,
  output logic             out_valid_o,
  output logic             out_last_o,
  input  logic             out_ready_i,
  input  logic             ctx_save_i,
  input  logic             ctx_restore_i,
  input  logic [63:0]      ctx_data_i,
  input  logic             ctx_valid_i,
  output logic             ctx_ready_o,
  output logic [63:0]      ctx_data_o,
  output logic             ctx_valid_o,
  output logic             ctx_last_o,
  input  logic             ctx_ready_i
);

  qam_mapper #(.BitsPerSymbol(6)) i_mapper (.*);

endmodule
