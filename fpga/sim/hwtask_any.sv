// SPDX-License-Identifier: Apache-2.0
// The HW task with a given number, for benches and for models of a region that changes its task.
module hwtask_any #(
  parameter fabric_pkg::task_t Task = fabric_pkg::TaskQam16
) (
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

  if (Task == fabric_pkg::TaskQam16) begin : gen_qam16
    hwtask_qam16 i_task (.*);
  end else if (Task == fabric_pkg::TaskQam64) begin : gen_qam64
    hwtask_qam64 i_task (.*);
  end else if (Task == fabric_pkg::TaskFft512) begin : gen_fft512
    hwtask_fft512 i_task (.*);
  end else if (Task == fabric_pkg::TaskFft1024) begin : gen_fft1024
    hwtask_fft1024 i_task (.*);
  end else if (Task == fabric_pkg::TaskAes128) begin : gen_aes128
    hwtask_aes128 i_task (.*);
  end else if (Task == fabric_pkg::TaskG722) begin : gen_g722
    hwtask_g722 i_task (.*);
  end

endmodule
