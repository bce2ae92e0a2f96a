// SPDX-License-Identifier: Apache-2.0
// The table of DMA windows, written and read by the manager over the bus: NumWindows windows for
// each VM, four 64-bit words each (GUEST with the rights, SIZE, HOST, reserved).
module dma_windows
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic     clk_i,
  /// Asynchronous, active low; all windows are closed after it.
  input  logic     rst_ni,
  /// Access in this cycle; cannot wait. A VM beyond NumVms reads as 0, and a write to it is
  /// ignored.
  input  logic     req_i,
  /// Whole words only.
  input  logic     we_i,
  /// {VM, window, word}. Word 0, GUEST: first guest-physical page in bits 40:12, bit 1 writable,
  /// bit 0 readable. Word 1, SIZE: bytes, in bits 40:12. Word 2, HOST: first host-physical page in
  /// bits 40:12. Other bits, and word 3, are ignored and read as 0.
  input  logic [7:0] word_i,
  input  word_t    data_i,
  /// In the same cycle.
  output word_t    data_o,
  /// Registers: a write is visible here in the next cycle. The three words of a window are written
  /// one after the other; the hypervisor closes it first (SIZE 0), and opens it with the last
  /// write.
  output window_t [NumVms-1:0][NumWindows-1:0] windows_o
);

  window_t selected;
  logic [3:0] vm;
  logic [1:0] window, word;
  assign {vm, window, word} = word_i;

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    for (genvar w = 0; w < int'(NumWindows); w++) begin : gen_window
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) windows_o[v][w] <= '0;
        else if (req_i && we_i && vm == 4'(v) && window == 2'(w)) begin
          unique case (word)
            2'd0: begin
              windows_o[v][w].guest    <= data_i[AddrWidth-1:PageBits];
              windows_o[v][w].writable <= data_i[1];
              windows_o[v][w].readable <= data_i[0];
            end
            2'd1: windows_o[v][w].pages <= data_i[AddrWidth-1:PageBits];
            2'd2: windows_o[v][w].host <= data_i[AddrWidth-1:PageBits];
            default: ;
          endcase
        end
      end
    end
  end

  always_comb begin
    selected = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      for (int w = 0; w < int'(NumWindows); w++) begin
        if (vm == 4'(v) && window == 2'(w)) selected = windows_o[v][w];
      end
    end
    unique case (word)
      2'd0: data_o = {23'b0, selected.guest, 10'b0, selected.writable, selected.readable};
      2'd1: data_o = {23'b0, selected.pages, 12'b0};
      2'd2: data_o = {23'b0, selected.host, 12'b0};
      default: data_o = '0;
    endcase
  end

  logic unused;
  assign unused = &{1'b0, data_i[63:AddrWidth], data_i[PageBits-1:2]};

endmodule
