// SPDX-License-Identifier: Apache-2.0
// The HW task with a given number, for benches and for models of a region that changes its task.
module hwtask_any
  import region_pkg::*;
#(
  parameter fabric_pkg::task_t Task = fabric_pkg::TaskQam16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  region_req_t req_i,
  output region_rsp_t rsp_o
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
