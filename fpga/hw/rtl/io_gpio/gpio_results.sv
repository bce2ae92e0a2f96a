// SPDX-License-Identifier: Apache-2.0
// The results of one VM: a FIFO that drops what arrives when it is full, so that the sequencer
// never waits for it, and counts. It serves gpio_processor.
module gpio_results
  import io_gpio_pkg::*;
#(
  /// Number of results, a power of two, at least 2.
  parameter int unsigned Depth = 16
) (
  input  logic         clk_i,
  /// Asynchronous, active low; empty, all counts 0 after it.
  input  logic         rst_ni,
  /// Removes all results and clears the counts.
  input  logic         flush_i,
  /// Pulse: a result, at the output from the next cycle on if no other one is before it. No
  /// back-pressure: a result is dropped if the FIFO is full in its cycle, also with pop_i, and if
  /// flush_i is high.
  input  logic         valid_i,
  input  gpio_entry_t  entry_i,
  /// The oldest result, until pop_i.
  output gpio_entry_t  entry_o,
  output logic         entry_valid_o,
  /// Pulse: removes the oldest result, in the next cycle; without one it is ignored.
  input  logic         pop_i,
  /// Counts, which stop at 255: late results; forbidden or bad ones; dropped ones. A result that is
  /// dropped because the FIFO is full counts as late, forbidden or bad, too.
  output gpio_count_t  late_o,
  output gpio_count_t  forbidden_o,
  output gpio_count_t  dropped_o
);

  logic ready;
  fabric_word_fifo #(.Width($bits(gpio_entry_t)), .Depth(Depth)) i_fifo (
    .clk_i,
    .rst_ni,
    .flush_i,
    .data_i (entry_i),
    .valid_i,
    .ready_o(ready),
    .data_o (entry_o),
    .valid_o(entry_valid_o),
    .ready_i(pop_i),
    .usage_o()
  );

  function automatic gpio_count_t counted(gpio_count_t count, logic event_i);
    return event_i && count != '1 ? count + 1'b1 : count;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      late_o      <= '0;
      forbidden_o <= '0;
      dropped_o   <= '0;
    end else if (flush_i) begin
      late_o      <= '0;
      forbidden_o <= '0;
      dropped_o   <= '0;
    end else if (valid_i) begin
      late_o      <= counted(late_o, entry_i.report.late);
      forbidden_o <= counted(forbidden_o, entry_i.report.forbidden || entry_i.report.bad);
      dropped_o   <= counted(dropped_o, !ready);
    end
  end

endmodule
