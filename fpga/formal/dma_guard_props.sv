// SPDX-License-Identifier: Apache-2.0
// What is proven of the guard: whatever the windows and the requests, an address only leaves it when it lies in a window
// of that very VM that allows it, with the whole burst, and every request is answered in the next cycle, one way.
module dma_guard_props
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 2
) (
  input logic clk_i,
  input logic check_i,
  input dma_check_t request_i,
  input window_t [NumVms-1:0][NumWindows-1:0] windows_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // Windows are any, but stay: the answer is made of those of the question's cycle alone.
  window_t [NumVms-1:0][NumWindows-1:0] had;
  always_ff @(posedge clk_i) if (!rst_n) had <= windows_i;

  logic ok, bad;
  addr_t addr;
  dma_guard #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .windows_i(had), .check_i, .request_i, .ok_o(ok), .bad_o(bad), .addr_o(addr)
  );

  // The question of the cycle before.
  logic asked = 1'b0;
  dma_check_t was;
  always_ff @(posedge clk_i) begin
    asked <= check_i && rst_n;
    was   <= request_i;
  end

  // Of a window, in plain numbers and without the guard's own subtraction.
  logic [NumWindows-1:0] allowed;
  for (genvar w = 0; w < int'(NumWindows); w++) begin : gen_window
    window_t window;
    page_t page, below;          // the page, and how far it lies behind the window's first
    logic [9:0] last;            // the 64-bit word behind the burst, counted within the page
    assign window     = had[was.vm[0]][w];
    assign page       = was.addr[AddrWidth-1:PageBits];
    assign below      = page - window.guest;
    assign last       = {1'b0, was.addr[PageBits-1:3]} + 10'(was.beats);
    assign allowed[w] = was.addr[63:AddrWidth] == '0 && page >= window.guest && below < window.pages
                        && last <= 10'd512 && was.beats != '0 && was.addr[2:0] == '0
                        && (was.write ? window.writable : window.readable)
                        && addr == {page_t'(window.host + below), was.addr[PageBits-1:0]};
  end

  always_ff @(posedge clk_i) begin
    if (rst_n && asked) begin
      assert (ok != bad);
      if (ok) assert (was.vm < 4'(NumVms) && allowed != '0);
    end else if (rst_n) assert (!ok && !bad);
    cover (rst_n && ok && was.write && was.vm == 4'd1);
    cover (rst_n && bad);
  end
endmodule
