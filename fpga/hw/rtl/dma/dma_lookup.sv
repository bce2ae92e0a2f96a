// SPDX-License-Identifier: Apache-2.0
// The combinational decision of the DMA guard: whether a burst is allowed, and its host-physical
// address. Windows are whole pages and no burst crosses a page, so checking one page is sufficient.
module dma_lookup
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  /// All windows; those of request_i.vm are searched, and a VM beyond NumVms has none.
  input  window_t [NumVms-1:0][NumWindows-1:0] windows_i,
  input  dma_check_t request_i,
  /// The burst is allowed; addr_o is its host-physical address.
  output logic       fine_o,
  /// Without fine_o its page is 0 or that of a matching window, and must not be used.
  output addr_t      addr_o
);

  localparam int unsigned VmBits = NumVms > 1 ? $clog2(NumVms) : 1;

  window_t [NumWindows-1:0] windows;
  page_t page;
  logic [NumWindows-1:0] hit;
  // Modulo 2^29 pages: a window whose host pages would exceed AddrWidth wraps around, so the
  // hypervisor must not configure one.
  page_t [NumWindows-1:0] host;
  page_t chosen;
  logic vm_known;

  assign page     = request_i.addr[AddrWidth-1:PageBits];
  assign vm_known = {1'b0, request_i.vm} < 5'(NumVms);
  assign windows  = vm_known ? windows_i[VmBits'(request_i.vm)] : '0;

  for (genvar w = 0; w < NumWindows; w++) begin : gen_window
    page_t offset;
    assign offset  = page - windows[w].guest;
    // offset is right only for pages that are not below the window's first one.
    assign hit[w]  = page >= windows[w].guest && offset < windows[w].pages
                     && (request_i.write ? windows[w].writable : windows[w].readable);
    assign host[w] = windows[w].host + offset;
  end

  // Of overlapping windows the first match counts.
  always_comb begin
    chosen = '0;
    for (int w = NumWindows - 1; w >= 0; w--) begin
      if (hit[w]) chosen = host[w];
    end
  end

  // Refused: bursts that cross a page, addresses beyond AddrWidth, misaligned addresses, empty
  // bursts.
  logic [PageBits:0] last;
  assign last = {1'b0, request_i.addr[PageBits-1:0]} + {5'b0, request_i.beats, 3'b0} - 13'd1;
  assign fine_o = |hit && request_i.addr[63:AddrWidth] == '0 && request_i.addr[2:0] == '0
                  && request_i.beats != '0 && !last[PageBits];
  assign addr_o = {chosen, request_i.addr[PageBits-1:0]};

endmodule
