// SPDX-License-Identifier: Apache-2.0
// The DMA guard of the shared devices: as dma_guard, with the windows in distributed RAM. It
// examines one window a cycle, so a burst in the first window has its answer a cycle after the
// request, and a refused one after four.
module io_guard
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; all windows are closed after it, and no check is in progress.
  input  logic       rst_ni,
  /// The manager's port, as of dma_windows, but the windows cannot be read; an access is never
  /// delayed, and has effect on windows that are examined from the next cycle on.
  input  logic       req_i,
  /// Whole words only.
  input  logic       we_i,
  /// {VM, window, word}, of a VM that exists.
  input  logic [7:0] word_i,
  input  word_t      data_i,
  /// One burst at a time: a level until gnt_o; the answer follows after 1 to 4 cycles, and a check
  /// in the cycle of an answer is accepted. gnt_o does not depend on check_i.
  input  logic       check_i,
  input  dma_check_t request_i,
  output logic       gnt_o,
  /// Pulse: the burst is allowed, at addr_o; or it is not.
  output logic       ok_o,
  output logic       bad_o,
  /// Host-physical, with ok_o.
  output addr_t      addr_o
);

  typedef struct packed {
    page_t guest;
    logic  writable;
    logic  readable;
  } guest_t;
  localparam int unsigned RowBits = $clog2(NumVms * NumWindows);
  typedef logic [RowBits-1:0] row_t;  // {VM, window}

  guest_t guest [1 << RowBits];
  page_t pages [1 << RowBits];
  page_t host [1 << RowBits];
  logic [NumVms*NumWindows-1:0] open_q;  // SIZE is written; until then the memory's value is void

  // waits_q: windows are left to be examined; then request_q and window_q say which.
  logic waits_q, found, last;
  logic [1:0] window_q;
  dma_check_t request_q, request;
  row_t row, set_row;
  logic [1:0] set_word;
  page_t page, offset;
  logic [PageBits:0] end_of_burst;
  logic possible;

  // ---- The manager's port ----
  assign set_row  = word_i[2+:RowBits];
  assign set_word = word_i[1:0];
  always_ff @(posedge clk_i) begin
    if (req_i && we_i) begin
      unique case (set_word)
        2'd0: guest[set_row] <= {data_i[AddrWidth-1:PageBits], data_i[1:0]};
        2'd1: pages[set_row] <= data_i[AddrWidth-1:PageBits];
        2'd2: host[set_row] <= data_i[AddrWidth-1:PageBits];
        default: ;
      endcase
    end
  end
  for (genvar r = 0; r < int'(NumVms * NumWindows); r++) begin : gen_open
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) open_q[r] <= 1'b0;
      else if (req_i && we_i && set_word == 2'd1 && set_row == row_t'(r)) open_q[r] <= 1'b1;
    end
  end

  function automatic logic is_open(row_t number);
    logic open;
    open = 1'b0;
    for (int r = 0; r < int'(NumVms * NumWindows); r++) if (number == row_t'(r)) open = open_q[r];
    return open;
  endfunction

  // ---- The search ----
  // A window that is written while it is examined decides by its old or its new words: the manager
  // closes it first.
  assign request = waits_q ? request_q : request_i;
  assign row     = row_t'({request.vm, waits_q ? window_q : 2'd0});
  assign page    = request.addr[AddrWidth-1:PageBits];
  assign offset  = page - guest[row].guest;
  assign found   = is_open(row) && page >= guest[row].guest && offset < pages[row]
                   && (request.write ? guest[row].writable : guest[row].readable);
  assign last    = waits_q && window_q == '1;

  // As in dma_lookup: bursts that no window allows.
  assign end_of_burst = {1'b0, request.addr[PageBits-1:0]} + {5'b0, request.beats, 3'b0} - 13'd1;
  assign possible     = request.addr[63:AddrWidth] == '0 && request.addr[2:0] == '0
                        && request.beats != '0 && !end_of_burst[PageBits];

  assign gnt_o = !waits_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q   <= 1'b0;
      window_q  <= '0;
      request_q <= '0;
      ok_o      <= 1'b0;
      bad_o     <= 1'b0;
      addr_o    <= '0;
    end else begin
      ok_o  <= 1'b0;
      bad_o <= 1'b0;
      if (waits_q || check_i) begin
        request_q <= request;
        window_q  <= row[1:0] + 1'b1;
        addr_o    <= {host[row] + offset, request.addr[PageBits-1:0]};
        ok_o      <= found && possible;
        // A burst that no window can allow is refused without a search.
        bad_o     <= !possible || (last && !found);
        waits_q   <= possible && !found && !last;
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, word_i, request.vm, data_i[63:AddrWidth], data_i[PageBits-1:2]};

endmodule
