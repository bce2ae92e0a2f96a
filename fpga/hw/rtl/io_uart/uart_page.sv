// SPDX-License-Identifier: Apache-2.0
// The UART's pages of the VMs, for io_top: the registers of a 16550A, one in each 32 bits, in whose
// lowest byte they are. It owns the flushes that wait, because io_uart takes one in eight cycles.
module uart_page
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// As of io_top.
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the UART is as after io_uart's reset.
  input  logic       rst_ni,
  // configuration by the manager, as of io_uart
  input  logic [15:0] divider_i,
  input  logic       mode_i,
  input  vm_t        focus_i,
  input  logic [11:0] flush_time_i,
  input  logic [NumVms-1:0] allowed_i,
  /// Pulse, in any cycle: the VM's UART returns to its reset values; of several VMs, one each eight
  /// cycles.
  input  io_flush_t  flush_i,
  /// Pulse: an access to a page of any device; those of other devices are ignored. Never delayed.
  input  io_access_t access_i,
  /// In the next cycle; 0 if no register of these pages was read.
  output word_t      data_o,
  /// In the next cycle: there is no such register.
  output logic       error_o,
  /// Level, registered.
  output logic [NumVms-1:0] irq_o,
  // pins
  output logic       tx_o,
  input  logic       rx_i
);

  localparam int unsigned FlushCycles = 8;  // from one flush to the next, at least

  // half: the register is in the upper 32 bits of the word. A write without the strobe of its
  // lowest byte is no access. *_q: of the access of the cycle before.
  logic here, known, half, writes, reads_q, half_q;
  logic [7:0] wdata, rdata;
  assign here   = access_i.valid && access_i.device == DevUart;
  assign known  = access_i.word < 9'd4;
  assign half   = access_i.write != '0 ? access_i.write[3:0] == '0 : access_i.low[2];
  assign writes = half ? access_i.write[4] : access_i.write[0];
  assign wdata  = half ? access_i.data[39:32] : access_i.data[7:0];

  // ---- Flushes, one after the other ----
  logic [NumVms-1:0] waits_q;
  logic [$clog2(FlushCycles)-1:0] pause_q;
  logic flush;
  vm_t flush_vm;
  always_comb begin
    flush_vm = '0;
    for (int v = int'(NumVms) - 1; v >= 0; v--) if (waits_q[v]) flush_vm = vm_t'(v);
  end
  assign flush = waits_q != '0 && pause_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= '0;
      pause_q <= '0;
    end else begin
      for (int v = 0; v < int'(NumVms); v++) begin
        if (flush_i.valid && flush_i.vm == vm_t'(v)) waits_q[v] <= 1'b1;
        else if (flush && flush_vm == vm_t'(v)) waits_q[v] <= 1'b0;
      end
      if (flush) pause_q <= '1;
      else if (pause_q != '0) pause_q <= pause_q - 1'b1;
    end
  end

  io_uart #(.NumVms(NumVms)) i_uart (
    .clk_i, .rst_ni, .divider_i, .mode_i, .focus_i, .flush_time_i, .allowed_i, .flush_i(flush),
    .flush_vm_i(flush_vm), .access_i(here && known && (access_i.write == '0 || writes)),
    .vm_i(access_i.vm), .reg_i({access_i.word[1:0], half}), .write_i(writes), .data_i(wdata),
    .data_o(rdata), .irq_o, .tx_o, .rx_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reads_q <= 1'b0;
      half_q  <= 1'b0;
      error_o <= 1'b0;
    end else begin
      reads_q <= here && known && access_i.write == '0;
      half_q  <= half;
      error_o <= here && !known;
    end
  end
  always_comb begin
    data_o = '0;
    if (reads_q) data_o = half_q ? {24'b0, rdata, 32'b0} : {56'b0, rdata};
  end

  logic unused;
  assign unused = &{1'b0, access_i};

endmodule
