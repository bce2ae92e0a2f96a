// SPDX-License-Identifier: Apache-2.0
// The DMA guard between regions and memory, one for all regions; it owns the registers of the
// answer. A region's DMA requests a check of every burst; one cycle later the guard answers with
// the host-physical address or refuses. It takes a check in every cycle and never waits. Windows
// are whole pages and no burst crosses a page, so checking one page is sufficient.
module dma_guard
  import fabric_pkg::*;
#(
  /// VMs 0 .. NumVms - 1 have windows; a check for another VM is refused.
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; a check that was in progress gets no answer. The same reset closes
  /// all windows, in dma_windows.
  input  logic       rst_ni,
  /// The table of dma_windows. A write to it is effective for checks from the next cycle on; it
  /// does not recall a burst that was allowed before.
  input  window_t [NumVms-1:0][NumWindows-1:0] windows_i,
  /// Pulse: check request_i in this cycle.
  input  logic       check_i,
  input  dma_check_t request_i,
  /// In the cycle after check_i: exactly one of the two is high, and addr_o is the host-physical
  /// address with ok_o. Both are low after a reset and without a check.
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
