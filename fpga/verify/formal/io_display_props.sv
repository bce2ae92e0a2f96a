// SPDX-License-Identifier: Apache-2.0
// Proves the display with two VMs and four pixels a line, for all modes, registers, memories and
// pulses: a pixel of a VM is on the screen only within the VM's rectangle, even if the other VM's
// rectangle changes at any time; and what is requested of the DMA is within a block and stays until
// it is done. The words of the VM carry a mark, the others do not.
module io_display_props
  import fabric_pkg::*;
  import io_pkg::*;
  import display_pkg::*;
#(
  localparam int unsigned NumVms = 2,
  localparam int unsigned MaxWidth = 4,
  // states of the timing and of the fetch
  localparam logic [1:0] Off = 2'd0, Clear = 2'd1, Idle = 2'd2, Run = 2'd3,
  localparam logic [2:0] None = 3'd0, Look = 3'd1, Next = 3'd4, Burst = 3'd5
) (
  input logic clk_i,
  input logic enable_i, frame_mode_i, frame_i, rect_write_i, flush_i, give_i, done_i,
  input logic [7:0] pixel_cycles_i,
  input logic [11:0] burst_cycles_i,
  input vm_t rect_vm_i, flush_vm_i, fb_vm_i,
  input rect_t rect_i,
  input fb_select_t fb_write_i,
  input framebuffer_t fb_i,
  input word_t data_i,
  input io_status_e status_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // An arbitrary mode, an arbitrary VM and its rectangle, which can be enabled and disabled.
  (* keep *) mode_t mode;
  (* keep *) logic any;
  (* keep *) rect_t rect;
  always_ff @(posedge clk_i) begin
    mode <= mode;
    any  <= any;
    rect <= rect;
  end
  rect_t written;
  assign written = rect_vm_i == vm_t'(any) ? {rect[$bits(rect_t)-1:1], rect_i.enabled} : rect_i;

  logic request, enable_out, tick_out;
  io_burst_t burst;
  logic [7:0] blue;
  io_display #(.NumVms(NumVms), .MaxWidth(MaxWidth)) dut (
    .clk_i, .rst_ni(rst_n), .enable_i, .mode_i(mode), .pixel_cycles_i, .frame_mode_i, .frame_i,
    .burst_cycles_i, .rect_write_i, .rect_vm_i, .rect_i(written), .flush_i, .flush_vm_i, .fb_vm_i,
    .fb_write_i, .fb_i, .fb_o(), .fb_status_o(), .busy_o(), .idle_o(), .request_o(request),
    .burst_o(burst), .data_i, .give_i, .done_i, .status_i, .pixel_o(tick_out), .hsync_o(),
    .vsync_o(), .data_enable_o(enable_out), .red_o(), .green_o(), .blue_o(blue), .frame_o()
  );
  always_comb assume (data_i[0] == (burst.vm == vm_t'(any)) && data_i[32] == data_i[0]);

  function automatic logic in_span(coord_t position, coord_t first, coord_t number);
    logic below;
    coord_t distance;
    {below, distance} = {1'b0, position} - {1'b0, first};
    return !below && distance < number;
  endfunction

  function automatic logic inside_rect(coord_t x, coord_t y);
    return in_span(x, rect.x, rect.width) && in_span(y, rect.y, rect.height);
  endfunction

  // ---- What is on the screen ----
  logic [1:0] timing;
  logic [2:0] fetch;
  phase_e h_phase, v_phase;
  coord_t x, y, x_q, y_q, x_out, y_out, next_y;
  logic line, next_active, sent, late, again;
  assign timing      = dut.i_timing.state_q;
  assign fetch       = dut.i_fetch.state_q;
  assign h_phase     = dut.i_timing.h_phase;
  assign v_phase     = dut.i_timing.v_phase;
  assign x           = dut.i_timing.i_h.position_o;
  assign y           = dut.i_timing.i_v.position_o;
  assign next_y      = dut.next_y;
  assign next_active = dut.next_active;
  assign line        = dut.line;
  assign late        = dut.i_fetch.late_q;
  assign again       = dut.i_fetch.again_q;
  always_ff @(posedge clk_i) begin
    if (dut.tick) {x_q, y_q} <= {x, y};
    if (dut.tick_q) {x_out, y_out} <= {x_q, y_q};
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    if (blue[0]) assert (enable_out && inside_rect(x_out, y_out));
    if (dut.tick_q && dut.visible_q && dut.pixel.blue[0])
      assert (dut.active_q && inside_rect(x_q, y_q));
  end

  // ---- What is in the lines: the one that is sent, and the other one ----
  logic [1:0][MaxWidth-1:0] marks;
  for (genvar b = 0; b < 2; b++) begin : gen_line
    for (genvar p = 0; p < MaxWidth; p += 2) begin : gen_pair
      assign marks[b][p]   = dut.i_lines.i_even.mem[b * 2 + p / 2][0];
      assign marks[b][p+1] = dut.i_lines.i_odd.mem[b * 2 + p / 2][0];
    end
  end
  assign sent = dut.i_lines.sent_q ^ line;  // the lines change places after the pulse

  // The last position that is sent; pixels behind it may stay until the screen is enabled again.
  coord_t last;
  assign last = mode.h.active - 16'd1;

  for (genvar p = 0; p < MaxWidth; p++) begin : gen_position
    logic taken;
    assign taken = h_phase == AxFront || (h_phase == AxActive && coord_t'(p) < x);
    always_ff @(posedge clk_i) if (rst_n && coord_t'(p) <= last) begin
      if (timing == Idle) assert (!marks[0][p] && !marks[1][p]);
      if (timing == Run) begin
        assert (!marks[sent][p] || (v_phase == AxActive && inside_rect(coord_t'(p), y) && !taken));
        assert (!marks[!sent][p] || (next_active && inside_rect(coord_t'(p), next_y)));
      end
      if (timing == Clear && 2'(p / 2) < dut.clear_position) assert (!marks[0][p]);
      if (timing == Clear && 2'(p / 2 + 2) < dut.clear_position) assert (!marks[1][p]);
    end
  end

  // ---- What is fetched ----
  logic current, of_any;
  logic [17:0] rest;
  assign current = fetch != None && !late;
  assign of_any  = !(fetch inside {None, Look}) && burst.vm == vm_t'(any);
  assign rest    = {2'b0, dut.i_fetch.words_q, dut.i_fetch.half_q};
  always_ff @(posedge clk_i) if (rst_n) begin
    assert (dut.i_table.enabled_q[any] == 1'b0
            || dut.i_table.rects[{3'b0, any}] == rect[$bits(rect_t)-1:1]);
    assert (fetch == None || burst.vm < vm_t'(NumVms));
    if (timing inside {Idle, Run}) assert (dut.clear_position == '0);
    if (timing inside {Clear, Idle})
      assert (h_phase == AxSync && v_phase == AxSync && x == '0 && y == '0);
    if (line) assert (h_phase == AxSync && timing inside {Idle, Run});
    if (timing == Clear) assert (fetch == None && !again && !line);
    if (timing == Idle) assert (!again && !current);
    if (timing == Run && !line) begin
      assert (!again || next_active);
      if (current) assert (next_active && dut.i_fetch.y_q == next_y);
    end
    if (timing == Run && line && current) assert (v_phase == AxActive && dut.i_fetch.y_q == y);
    if (h_phase == AxActive) assert (x <= last);
    if (of_any) begin
      assert (in_span(dut.i_fetch.y_q, rect.y, rect.height));
      assert (dut.i_fetch.x_q >= rect.x);
      assert (rest == '0 || 18'(dut.i_fetch.x_q) + rest == 18'(rect.x) + 18'(rect.width));
    end
    cover (blue[0] && x_out == 16'd1 && !rect.x[0]);
    cover (blue[0] && x_out == 16'd1 && rect.x[0] && y_out == '0);
    cover (late && of_any && fetch == Burst);
  end

  // ---- DMA ----
  logic request_q = 1'b0;
  io_burst_t burst_q;
  always_ff @(posedge clk_i) begin
    request_q <= request && !done_i && rst_n;
    burst_q   <= burst;
    if (rst_n && request_q) assert (request && burst == burst_q);
    if (rst_n && request) begin
      assert (!burst.write && burst.addr[2:0] == '0 && burst.beats != '0);
      assert ({1'b0, burst.addr[6:3]} + burst.beats <= 5'd16);
    end
  end
endmodule
