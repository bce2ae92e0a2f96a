// SPDX-License-Identifier: Apache-2.0
// Decouples one region: while couple_i is low, all responses of the region are forced to 0. Purely
// combinational, so that decoupling takes effect in the cycle in which couple_i falls.
module region_gate
  import region_pkg::*;
(
  input  logic        couple_i,
  /// From the region.
  input  region_rsp_t rsp_i,
  /// To the static side.
  output region_rsp_t rsp_o
);

  assign rsp_o = couple_i ? rsp_i : '0;

endmodule
