// SPDX-License-Identifier: Apache-2.0
// The guard between regions and memory. A region's DMA asks for every burst; the guard answers one cycle later with the
// host address, or says no. Windows are whole pages and no burst crosses a page, so that one page decides.
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
  output logic       ok_o,    // in the cycle after check_i
  output logic       bad_o,
  output addr_t      addr_o
);

  localparam int unsigned VmBits = NumVms > 1 ? $clog2(NumVms) : 1;

  window_t [NumWindows-1:0] windows;
  page_t page;
  logic [NumWindows-1:0] hit;
  page_t [NumWindows-1:0] host;
  page_t chosen;
  logic fine, vm_known;

  assign page     = request_i.addr[AddrWidth-1:PageBits];
  assign vm_known = 32'(request_i.vm) < NumVms;
  assign windows  = vm_known ? windows_i[VmBits'(request_i.vm)] : '0;

  for (genvar w = 0; w < NumWindows; w++) begin : gen_window
    page_t offset;
    assign offset  = page - windows[w].guest;
    assign hit[w]  = page >= windows[w].guest && offset < windows[w].pages
                     && (request_i.write ? windows[w].writable : windows[w].readable);
    assign host[w] = windows[w].host + offset;
  end

  // The first window that fits, should the manager have made them overlap.
  always_comb begin
    chosen = '0;
    for (int w = NumWindows - 1; w >= 0; w--) begin
      if (hit[w]) chosen = host[w];
    end
  end

  // A burst that would leave its page, a wild address, an odd one, or none of a beat: no.
  logic [PageBits:0] last;
  assign last = {1'b0, request_i.addr[PageBits-1:0]} + {5'b0, request_i.beats, 3'b0} - 13'd1;
  assign fine = |hit && request_i.addr[63:AddrWidth] == '0 && request_i.addr[2:0] == '0 && request_i.beats != '0
                && !last[PageBits];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ok_o   <= 1'b0;
      bad_o  <= 1'b0;
      addr_o <= '0;
    end else begin
      ok_o   <= check_i & fine;
      bad_o  <= check_i & ~fine;
      addr_o <= {chosen, request_i.addr[PageBits-1:0]};
    end
  end

endmodule
