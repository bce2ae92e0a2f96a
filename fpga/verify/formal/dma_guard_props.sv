// SPDX-License-Identifier: Apache-2.0
// Proves the guard's decision: for all windows and requests, an address is granted only when the
// whole burst lies in a window of the requesting VM that allows the access. (dma_guard itself only
// registers the decision.)
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

  // For each window: whether the request lies in it, and its host-physical address.
  logic [NumWindows-1:0] fits;
  for (genvar w = 0; w < int'(NumWindows); w++) begin : gen_window
    window_t window;
    page_t page, below;          // the page, and its distance from the window's first page
    logic [9:0] last;            // the 64-bit word after the burst, counted within the page
    window_t [NumWindows-1:0] mine;  // closed windows for a VM that does not exist
    assign mine    = {1'b0, request_i.vm} < 5'(NumVms) ? windows_i[request_i.vm[0]] : '0;
    assign window  = mine[w];
    assign page    = request_i.addr[AddrWidth-1:PageBits];
    assign below   = page - window.guest;
    assign last    = {1'b0, request_i.addr[PageBits-1:3]} + 10'(request_i.beats);
    assign fits[w] = request_i.addr[63:AddrWidth] == '0 && page >= window.guest
                     && below < window.pages && last <= 10'd512 && request_i.beats != '0
                                                        && request_i.addr[2:0] == '0
                     && (request_i.write ? window.writable : window.readable)
                     && addr == {page_t'(window.host + below), request_i.addr[PageBits-1:0]};
  end

  always_ff @(posedge clk_i) begin
    if (fine) assert (request_i.vm < 4'(NumVms) && fits != '0);
    cover (fine && request_i.write && request_i.vm == 4'd1);
    cover (!fine);
  end
endmodule
