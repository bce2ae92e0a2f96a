// SPDX-License-Identifier: Apache-2.0
// A FIFO in distributed RAM. PULP's fifo_v3 keeps its words in flip-flops with reset, 4096 of them
// for 64 words of 64 bits; this one takes some 60 LUTs. The first word falls through: data_o is
// valid whenever valid_o is high.
module fabric_word_fifo #(
  /// Bits of a word.
  parameter int unsigned Width = 64,
  /// Number of words, a power of two.
  parameter int unsigned Depth = 64,
  localparam int unsigned PointerWidth = $clog2(Depth)
) (
  input  logic                  clk_i,
  /// Asynchronous, active low; the FIFO is empty: valid_o is low, ready_o high, usage_o 0. A word
  /// that arrives during the reset is lost. The memory is not reset.
  input  logic                  rst_ni,
  /// Empties the FIFO; a word that arrives in the same cycle is discarded.
  input  logic                  flush_i,
  /// A word enters when valid_i and ready_o; ready_o falls only when the FIFO is full, and does not
  /// depend on ready_i. The word is at the output from the next cycle.
  input  logic [Width-1:0]      data_i,
  input  logic                  valid_i,
  output logic                  ready_o,
  /// The oldest word, until ready_i takes it. Without valid_o an old word may stand here.
  output logic [Width-1:0]      data_o,
  output logic                  valid_o,
  input  logic                  ready_i,
  /// Number of words, 0 .. Depth.
  output logic [PointerWidth:0] usage_o
);

  logic [Width-1:0] mem [Depth];
  // The pointers have one bit more than the address, so that full and empty differ.
  logic [PointerWidth:0] write_q, read_q;
  logic push, pop;

  assign usage_o = write_q - read_q;
  assign ready_o = usage_o != (PointerWidth + 1)'(Depth);
  assign valid_o = write_q != read_q;
  assign data_o  = mem[read_q[PointerWidth-1:0]];
  assign push    = valid_i & ready_o;
  assign pop     = valid_o & ready_i;

  // No reset: a word is read only after it was written.
  always_ff @(posedge clk_i) begin
    if (push) mem[write_q[PointerWidth-1:0]] <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else if (flush_i) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push) write_q <= write_q + 1'b1;
      if (pop) read_q <= read_q + 1'b1;
    end
  end

endmodule
