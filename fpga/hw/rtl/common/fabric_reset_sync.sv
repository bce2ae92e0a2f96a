// SPDX-License-Identifier: Apache-2.0
// Reset synchronizer: asserts its output asynchronously, at once and without a clock, and releases
// it synchronously, so that all registers leave reset in the same cycle.
module fabric_reset_sync (
  input  logic clk_i,
  /// Asynchronous reset, active low.
  input  logic rst_ni,
  /// High from the second edge of clk_i after the release of rst_ni.
  /// Falls at once with rst_ni, also without a clock.
  output logic rst_no
);

  // The first register may become metastable at the release.
  (* ASYNC_REG = "TRUE" *) logic first_q;
  (* ASYNC_REG = "TRUE" *) logic released_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q    <= 1'b0;
      released_q <= 1'b0;
    end else begin
      first_q    <= 1'b1;
      released_q <= first_q;
    end
  end

  assign rst_no = released_q;

endmodule
