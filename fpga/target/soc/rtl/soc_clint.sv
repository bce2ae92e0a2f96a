// SPDX-License-Identifier: Apache-2.0
// Software interrupt and timer of one hart, at the offsets of SiFive's CLINT: msip 0, mtimecmp
// 0x4000, mtime 0xBFF8. Unlike the CLINT of CVA6's SoC it counts every cycle, so that the time that
// harts read is the time of timed I/O, to the cycle.
module soc_clint
  import soc_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; the time is 0 after it, mtimecmp all ones, no interrupt.
  input  logic        rst_ni,
  /// Pulse: 64-bit registers, written in parts by the byte strobes.
  input  access_t     access_i,
  /// In the cycle after the access.
  output logic [63:0] data_o,
  /// mtime, in cycles of clk_i: one more in every cycle. It is also the time base of the shared
  /// devices.
  output logic [63:0] time_o,
  /// Level, registered: mtime has reached mtimecmp, a cycle ago.
  output logic        timer_irq_o,
  /// Level: msip.
  output logic        ipi_o
);

  logic is_ipi, is_compare, is_time;
  logic [63:0] compare_q;

  assign is_ipi     = access_i.valid && access_i.addr[15:3] == 13'(16'h0 >> 3);
  assign is_compare = access_i.valid && access_i.addr[15:3] == 13'(16'h4000 >> 3);
  assign is_time    = access_i.valid && access_i.addr[15:3] == 13'(16'hbff8 >> 3);

  function automatic logic [63:0] written(logic [63:0] old, logic [7:0] strobe, logic [63:0] data);
    for (int i = 0; i < 8; i++) if (strobe[i]) old[8*i+:8] = data[8*i+:8];
    return old;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_o      <= '0;
      compare_q   <= '1;
      ipi_o       <= 1'b0;
      timer_irq_o <= 1'b0;
      data_o      <= '0;
    end else begin
      time_o <= time_o + 1'b1;
      if (is_time && access_i.write != '0) time_o <= written(time_o, access_i.write, access_i.data);
      if (is_compare) compare_q <= written(compare_q, access_i.write, access_i.data);
      if (is_ipi && access_i.write[0]) ipi_o <= access_i.data[0];
      timer_irq_o <= time_o >= compare_q;
      data_o <= is_time ? time_o : is_compare ? compare_q : is_ipi ? 64'(ipi_o) : '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, access_i};

endmodule
