// SPDX-License-Identifier: Apache-2.0
// What is proven of the guard's decision: whatever the windows and the request, an address only leaves it when it lies in a
// window of that very VM that allows it, with the whole burst. (dma_guard itself only keeps the decision for a cycle.)
module dma_guard_props
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 2
) (
  input logic clk_i,
  input dma_check_t request_i,
  input window_t [NumVms-1:0][NumWindows-1:0] windows_i
);
  logic fine;
  addr_t addr;
  dma_lookup #(.NumVms(NumVms)) dut (.windows_i, .request_i, .fine_o(fine), .addr_o(addr));

  // Of a window: whether the request lies in it, and where.
  logic [NumWindows-1:0] fits;
  for (genvar w = 0; w < int'(NumWindows); w++) begin : gen_window
    window_t window;
    page_t page, below;          // the page, and how far it lies behind the window's first
    logic [9:0] last;            // the 64-bit word behind the burst, counted within the page
    window_t [NumWindows-1:0] mine;  // nothing, for a VM that is not there
    assign mine    = {1'b0, request_i.vm} < 5'(NumVms) ? windows_i[request_i.vm[0]] : '0;
    assign window  = mine[w];
    assign page    = request_i.addr[AddrWidth-1:PageBits];
    assign below   = page - window.guest;
    assign last    = {1'b0, request_i.addr[PageBits-1:3]} + 10'(request_i.beats);
    assign fits[w] = request_i.addr[63:AddrWidth] == '0 && page >= window.guest && below < window.pages
                     && last <= 10'd512 && request_i.beats != '0 && request_i.addr[2:0] == '0
                     && (request_i.write ? window.writable : window.readable)
                     && addr == {page_t'(window.host + below), request_i.addr[PageBits-1:0]};
  end

  always_ff @(posedge clk_i) begin
    if (fine) assert (request_i.vm < 4'(NumVms) && fits != '0);
    cover (fine && request_i.write && request_i.vm == 4'd1);
    cover (!fine);
  end
endmodule
