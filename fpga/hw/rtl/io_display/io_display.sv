// SPDX-License-Identifier: Apache-2.0
// A screen that VMs share: each shows its framebuffer, which is in its own memory, in the rectangle
// that the manager gives it. Outside the rectangles the screen is black. What a VM writes into its
// registers changes no pixel but its own. It connects its blocks, and owns the registers of the
// wire.
module io_display
  import fabric_pkg::*;
  import io_pkg::*;
  import display_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Pixels of a line that can show a framebuffer, a power of two from 4 to 32768.
  parameter int unsigned MaxWidth = 1024,
  localparam int unsigned PosBits = $clog2(MaxWidth)
) (
  input  logic         clk_i,
  /// Asynchronous, active low; the screen is off, without rectangles, after it.
  input  logic         rst_ni,
  /// Configuration by the manager: a level, 1: the screen is on.
  input  logic         enable_i,
  /// These change only while enable_i is low.
  input  mode_t        mode_i,
  /// Cycles from one pixel to the next; 0 counts as 1.
  input  logic [7:0]   pixel_cycles_i,
  /// 1: a frame for each pulse of frame_i, instead of frames without pause. One pulse is kept while
  /// a frame is sent.
  input  logic         frame_mode_i,
  input  logic         frame_i,
  /// What a VM's bursts may take on average, in cycles.
  input  logic [11:0]  burst_cycles_i,
  /// Pulse: a new rectangle takes effect with the next line that is fetched.
  input  logic         rect_write_i,
  input  vm_t          rect_vm_i,
  input  rect_t        rect_i,
  /// Pulse: turns the VM's framebuffer off; its rectangle stays, black. A write of `on` in the same
  /// cycle is lost.
  input  logic         flush_i,
  input  vm_t          flush_vm_i,
  // the registers of a VM; what is read is valid in the same cycle
  input  vm_t          fb_vm_i,
  /// Pulses: which registers of fb_vm_i the values in fb_i replace.
  input  fb_select_t   fb_write_i,
  input  framebuffer_t fb_i,
  output framebuffer_t fb_o,
  output fb_status_t   fb_status_o,
  /// A burst of this VM is requested or outstanding.
  output logic [NumVms-1:0] busy_o,
  /// Level: nothing happens until frame_i or enable_i.
  output logic         idle_o,
  /// DMA (io_dma): request_o and burst_o are stable until done_i; a word comes with each give_i.
  output logic         request_o,
  output io_burst_t    burst_o,
  input  word_t        data_i,
  input  logic         give_i,
  input  logic         done_i,
  input  io_status_e   status_i,
  /// Screen: a pulse, the outputs below are those of the next pixel and stay until the next pulse.
  /// It comes two cycles after display_timing's, with the color from the line buffer.
  output logic         pixel_o,
  output logic         hsync_o,
  output logic         vsync_o,
  /// A visible pixel; its color is black without a framebuffer there.
  output logic         data_enable_o,
  output logic [7:0]   red_o,
  output logic [7:0]   green_o,
  output logic [7:0]   blue_o,
  /// Pulse: the last line of a frame's pixels is over.
  output logic         frame_o
);

  logic quiet, stop, line, next_active, clear, tick, active, hsync, vsync, count, fault,
      count_ready, visible;
  logic write, write_second;
  logic [PosBits-1:0] clear_position, position;
  coord_t next_y, x;
  vm_t vm;
  rect_t rect;
  framebuffer_t framebuffer;
  pixel_t first, second, pixel;

  display_table #(.NumVms(NumVms)) i_table (
    .clk_i, .rst_ni, .rect_write_i, .rect_vm_i, .rect_i, .flush_i, .flush_vm_i,
    .write_i(fb_write_i), .vm_i(fb_vm_i), .framebuffer_i(fb_i), .framebuffer_o(fb_o),
    .fetch_vm_i(vm), .fetch_rect_o(rect), .fetch_framebuffer_o(framebuffer)
  );
  display_counters i_counters (
    .clk_i, .count_i(count), .fault_i(fault), .count_vm_i(vm), .ready_o(count_ready),
    .clear_i(fb_write_i.on), .vm_i(fb_vm_i), .on_i(fb_o.on), .status_o(fb_status_o)
  );
  display_timing #(.MaxWidth(MaxWidth)) i_timing (
    .clk_i, .rst_ni, .enable_i, .frame_mode_i, .frame_i, .mode_i, .pixel_cycles_i, .quiet_i(quiet),
    .stop_o(stop), .line_o(line), .next_active_o(next_active), .next_y_o(next_y), .clear_o(clear),
    .clear_position_o(clear_position), .pixel_o(tick), .x_o(x), .active_o(active), .hsync_o(hsync),
    .vsync_o(vsync), .frame_o, .idle_o
  );
  display_fetch #(.NumVms(NumVms), .MaxWidth(MaxWidth)) i_fetch (
    .clk_i, .rst_ni, .burst_cycles_i, .stop_i(stop), .line_i(line),
    .next_active_i(next_active), .next_y_i(next_y), .quiet_o(quiet), .vm_o(vm), .rect_i(rect),
    .framebuffer_i(framebuffer), .count_o(count), .fault_o(fault), .count_ready_i(count_ready),
    .write_o(write), .write_second_o(write_second), .position_o(position), .first_o(first),
    .second_o(second), .request_o, .burst_o, .data_i, .give_i, .done_i, .status_i
  );
  assign visible = tick && active && 32'(x) < MaxWidth;
  display_lines #(.MaxWidth(MaxWidth)) i_lines (
    .clk_i, .rst_ni, .line_i(line), .write_i(write), .write_second_i(write_second),
    .position_i(position), .first_i(first), .second_i(second), .take_i(visible),
    .take_position_i(x[PosBits-1:0]), .pixel_o(pixel), .clear_i(clear),
    .clear_position_i(clear_position)
  );

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_busy
    assign busy_o[v] = request_o && burst_o.vm == vm_t'(v);
  end

  // The pixel comes from the line a cycle after it was taken.
  logic tick_q, active_q, hsync_q, vsync_q, visible_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tick_q, active_q, hsync_q, vsync_q, visible_q} <= '0;
      {pixel_o, data_enable_o, hsync_o, vsync_o}      <= '0;
      {red_o, green_o, blue_o}                        <= '0;
    end else begin
      {tick_q, active_q, hsync_q, vsync_q, visible_q} <= {tick, active, hsync, vsync, visible};
      pixel_o <= tick_q && enable_i;
      if (tick_q || !enable_i) begin
        {data_enable_o, hsync_o, vsync_o} <= enable_i ? {active_q, hsync_q, vsync_q} : '0;
        {red_o, green_o, blue_o}          <= enable_i && visible_q ? pixel : '0;
      end
    end
  end

endmodule
