// SPDX-License-Identifier: Apache-2.0
// The screen's pages of the VMs (fabric_screen): it owns the interrupts of the VMs, and io_display
// the rest. Serves io_top.
module display_page
  import fabric_pkg::*;
  import fabric_map_pkg::*;
  import io_pkg::*;
  import display_pkg::*;
#(
  /// As of io_display.
  parameter int unsigned NumVms = 4,
  parameter int unsigned MaxWidth = 1024
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no interrupt is enabled or pending after it.
  input  logic       rst_ni,
  /// Pulse: an access to a page of any device; those of other devices are ignored. Never delayed.
  input  io_access_t access_i,
  /// In the next cycle; 0 if no register of these pages was read.
  output word_t      data_o,
  /// In the next cycle: there is no such register, or the access has not 64 bits.
  output logic       error_o,
  // configuration by the manager, as of io_display
  input  logic       enable_i,
  input  logic       on_request_i,
  input  logic [7:0] pixel_cycles_i,
  input  logic [11:0] burst_cycles_i,
  input  mode_t      mode_i,
  input  logic       rect_write_i,
  input  vm_t        rect_vm_i,
  input  rect_t      rect_i,
  /// Pulse: the VM's framebuffer and interrupt are turned off.
  input  io_flush_t  flush_i,
  /// Level: a frame's pixels have been sent since the VM cleared the bit, and its interrupt is
  /// enabled. Memory may still be read for the VM (busy_o). Nothing happens until frame_i or
  /// enable_i (idle_o).
  output logic [NumVms-1:0] irq_o,
  output logic [NumVms-1:0] busy_o,
  output logic       idle_o,
  /// DMA: one client of io_dma, which only reads.
  output io_client_req_t dma_req_o,
  input  io_client_rsp_t dma_rsp_i,
  // screen, as of io_display
  input  logic       frame_i,
  output logic       pixel_o,
  output logic       hsync_o,
  output logic       vsync_o,
  output logic       data_enable_o,
  output pixel_t     color_o
);

  localparam int unsigned NumWords = ScreenSpan / 8;

  logic here, writes, known, enable, pending, frame;
  fb_select_t select;
  framebuffer_t framebuffer, written;
  fb_status_t status;
  logic [NumVms-1:0] enable_q, pending_q;
  word_t data;

  assign here   = access_i.valid && access_i.device == DevDisplay;
  assign known  = 32'(access_i.word) < NumWords && access_i.low == '0
                  && access_i.write inside {8'h00, 8'hff};
  assign writes = here && access_i.write == '1;

  function automatic logic at(int unsigned offset);
    return access_i.word == 9'(offset / 8);
  endfunction

  // A write of FORMAT sets stride and `on` together.
  assign select  = '{base: writes && at(ScreenBase), stride: writes && at(ScreenFormat), on: writes
                     && at(ScreenFormat)};
  assign written = '{base: access_i.data[AddrWidth-1:0],
                     stride: access_i.data[ScreenFormatStrideLsb+:16],
                     on: access_i.data[ScreenFormatOnLsb]};

  io_display #(.NumVms(NumVms), .MaxWidth(MaxWidth)) i_display (
    .clk_i, .rst_ni, .enable_i, .mode_i, .pixel_cycles_i, .frame_mode_i(on_request_i), .frame_i,
    .burst_cycles_i, .rect_write_i, .rect_vm_i, .rect_i, .flush_i(flush_i.valid),
    .flush_vm_i(flush_i.vm), .fb_vm_i(access_i.vm), .fb_write_i(select), .fb_i(written),
    .fb_o(framebuffer), .fb_status_o(status), .busy_o, .idle_o, .request_o(dma_req_o.request),
    .burst_o(dma_req_o.burst), .data_i(dma_rsp_i.data), .give_i(dma_rsp_i.give),
    .done_i(dma_rsp_i.done), .status_i(dma_rsp_i.status), .pixel_o, .hsync_o, .vsync_o,
    .data_enable_o, .red_o(color_o.red), .green_o(color_o.green), .blue_o(color_o.blue),
    .frame_o(frame)
  );
  assign dma_req_o.word = '0;

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic sets;
    assign sets     = writes && at(ScreenInt) && access_i.vm == vm_t'(v);
    assign irq_o[v] = enable_q[v] && pending_q[v];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {enable_q[v], pending_q[v]} <= '0;
      else if (flush_i.valid && flush_i.vm == vm_t'(v)) {enable_q[v], pending_q[v]} <= '0;
      else begin
        if (sets) enable_q[v] <= access_i.data[ScreenIntEnableLsb];
        // Every VM's bit is set by a frame; a frame in the cycle of a clear wins.
        pending_q[v] <= frame || (pending_q[v] && !(sets && access_i.data[ScreenIntPendingLsb]));
      end
    end
  end

  // ---- Reads ----
  always_comb begin
    {enable, pending} = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (access_i.vm == vm_t'(v)) {enable, pending} = {enable_q[v], pending_q[v]};
    end
  end

  always_comb begin
    data = '0;
    if (at(ScreenBase)) data = word_t'(framebuffer.base);
    if (at(ScreenFormat)) begin
      data[ScreenFormatStrideLsb+:16] = framebuffer.stride;
      data[ScreenFormatOnLsb]         = framebuffer.on;
    end
    if (at(ScreenStatus)) begin
      data[ScreenStatusFaultsLsb+:8]    = status.faults;
      data[ScreenStatusUnderrunsLsb+:8] = status.underruns;
    end
    if (at(ScreenInt)) begin
      data[ScreenIntEnableLsb]  = enable;
      data[ScreenIntPendingLsb] = pending;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_o  <= '0;
      error_o <= 1'b0;
    end else begin
      data_o  <= here && access_i.write == '0 && known ? data : '0;
      error_o <= here && !known;
    end
  end

  logic unused;
  assign unused = &{1'b0, access_i.low, dma_rsp_i, status.fault};

endmodule
