// SPDX-License-Identifier: Apache-2.0
// A region in the static design: the ports of ../region_partition.sv, and nothing behind them.
(* black_box *)
module region_partition
  import region_pkg::*;
(
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [$bits(region_req_t)-1:0] req_i,
  output logic [$bits(region_rsp_t)-1:0] rsp_o
);
endmodule
