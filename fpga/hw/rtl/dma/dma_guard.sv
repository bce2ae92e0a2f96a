// SPDX-License-Identifier: Apache-2.0
// The DMA guard between regions and memory. A region's DMA requests a check of every burst; one
// cycle later the guard answers with the host-physical address or refuses. Windows are whole pages
// and no burst crosses a page, so checking one page is sufficient.
module dma_guard
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  window_t [NumVms-1:0][NumWindows-1:0] windows_i,
  input  logic       check_i,
  input  dma_check_t request_i,
  /// In the cycle after check_i.
  output logic       ok_o,
  output logic       bad_o,
  output addr_t      addr_o
);

  logic fine;
  addr_t addr;

  dma_lookup #(.NumVms(NumVms)) i_lookup (.windows_i, .request_i, .fine_o(fine), .addr_o(addr));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ok_o   <= 1'b0;
      bad_o  <= 1'b0;
      addr_o <= '0;
    end else begin
      ok_o   <= check_i & fine;
      bad_o  <= check_i & ~fine;
      addr_o <= addr;
    end
  end

endmodule
