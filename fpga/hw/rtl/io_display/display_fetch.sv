// SPDX-License-Identifier: Apache-2.0
// Fetches a line of each rectangle while the line before it is sent, for io_display. The VM with
// the highest number comes first, and the rest of a line that is not fetched is written black: so
// of overlapping rectangles the VM with the lowest number wins. A VM whose bursts take longer than
// burst_cycles_i on average loses the rest of its line, not the time of the VMs after it.
module display_fetch
  import fabric_pkg::*;
  import io_pkg::*;
  import display_pkg::*;
#(
  /// VMs, and pixels of a line that can show a framebuffer, as of io_display.
  parameter int unsigned NumVms = 4,
  parameter int unsigned MaxWidth = 1024,
  localparam int unsigned PosBits = $clog2(MaxWidth),
  localparam int unsigned CreditBits = 13 + $clog2(MaxWidth / 32 + 2)
) (
  input  logic         clk_i,
  /// Asynchronous, active low; idle after it.
  input  logic         rst_ni,
  /// Cycles that a VM's bursts may take on average.
  input  logic [11:0]  burst_cycles_i,
  /// Lines (display_timing): a level; nothing is fetched, and a burst that has begun is the last
  /// one.
  input  logic         stop_i,
  /// Pulse: a line starts. If next_active_i, the line after it, next_y_i, is fetched from now on.
  input  logic         line_i,
  input  logic         next_active_i,
  input  coord_t       next_y_i,
  /// No burst is outstanding and no line is being fetched.
  output logic         quiet_o,
  /// The VM whose line is fetched; its rectangle and framebuffer are valid in the same cycle
  /// (display_table). count_o, a level, waits for count_ready_i (display_counters).
  output vm_t          vm_o,
  input  rect_t        rect_i,
  input  framebuffer_t framebuffer_i,
  output logic         count_o,
  output logic         fault_o,
  input  logic         count_ready_i,
  /// The line (display_lines): writes one pixel at position_o, with write_second_o two. Never
  /// waits.
  output logic         write_o,
  output logic         write_second_o,
  output logic [PosBits-1:0] position_o,
  output pixel_t       first_o,
  output pixel_t       second_o,
  /// DMA (io_dma): request_o and burst_o are stable until done_i; a word, two pixels, with each
  /// give_i.
  output logic         request_o,
  output io_burst_t    burst_o,
  input  word_t        data_i,
  input  logic         give_i,
  input  logic         done_i,
  input  io_status_e   status_i
);

  // FtLook: whether the VM's rectangle includes the line. FtRow, FtStart: the address of its first
  // word. FtNext: the next burst, or the VM is over. FtBurst: the DMA reads. FtCount: the line is
  // incomplete. FtFill: the rest of it is written black, two pixels a cycle.
  typedef enum logic [2:0] {FtIdle, FtLook, FtRow, FtStart, FtNext, FtBurst, FtCount,
                            FtFill} state_e;

  state_e state_q, state_d;
  vm_t vm_q;
  coord_t y_q, dy, dy_q, x_q;
  logic late_q, again_q, fault_q;   // the line is being sent already; the one after it waits
  logic [14:0] words_q;             // of two pixels; half_q: one with one pixel follows
  logic [37:0] line_q;              // address of the line's first word
  logic [37:0] word_q;              // address of the next word
  beats_t beats, beats_q, in_block;
  logic [CreditBits-1:0] credit, credit_q;  // cycles that the VM's bursts may still take, signed
  logic half_q, begins, below, includes, over, moves, spent, vm_over;

  assign {below, dy} = {1'b0, y_q} - {1'b0, rect_i.y};
  assign includes    = rect_i.enabled && !below && dy < rect_i.height;
  assign begins      = state_q == FtIdle && !stop_i && (line_i ? next_active_i : again_q);
  assign over        = (words_q == '0 && !half_q) || 32'(x_q) >= MaxWidth;
  assign spent       = credit_q[CreditBits-1];
  // Each burst adds its cycles, each cycle of a burst subtracts one; negative means spent.
  assign credit      = credit_q + (state_q == FtNext ? CreditBits'(burst_cycles_i) : '1);

  // As many words as are left in the block and in the line. Those that come too late are dropped.
  assign in_block = 5'd16 - {1'b0, word_q[3:0]};
  assign beats    = words_q[14:4] == '0 && {1'b0, words_q[3:0]} < in_block
                    ? {1'b0, words_q[3:0]} + 5'(half_q) : in_block;
  assign moves    = ((state_q == FtBurst && give_i) || state_q == FtFill) && !late_q && !over;

  state_e next;
  always_comb begin
    next = spent ? FtCount : FtBurst;
    if (late_q) next = FtCount;
    if (!framebuffer_i.on) next = FtFill;
  end

  always_comb begin
    state_d = state_q;
    vm_over = 1'b0;
    unique case (state_q)
      FtIdle:  if (begins) state_d = FtLook;
      FtLook: begin
        state_d = FtRow;
        vm_over = !includes;
      end
      FtRow:   state_d = FtStart;
      FtStart: state_d = FtNext;
      FtNext: begin
        state_d = next;
        vm_over = over;
      end
      FtBurst: if (done_i) state_d = status_i == IoDone ? FtNext : FtCount;
      FtCount: if (count_ready_i) state_d = FtFill;
      default: vm_over = over || late_q;  // FtFill
    endcase
    if (vm_over) state_d = vm_q == '0 ? FtIdle : FtLook;
    // A burst cannot be withdrawn.
    if (stop_i && state_q != FtBurst) state_d = FtIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= FtIdle;
      vm_q    <= '0;
      y_q     <= '0;
      late_q  <= 1'b0;
      again_q <= 1'b0;
      fault_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q != FtCount) fault_q <= state_q == FtBurst;
      if (begins) begin
        vm_q <= vm_t'(NumVms - 1);
        y_q  <= next_y_i;
      end else if (vm_over) vm_q <= vm_q - 1'b1;
      if (state_q == FtIdle) late_q <= 1'b0;
      else if (line_i) late_q <= 1'b1;
      if (stop_i || state_q == FtIdle) again_q <= 1'b0;
      else if (line_i) again_q <= next_active_i;
    end
  end

  // What is known of the VM's line. No reset: a state with a value follows one that sets it.
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      FtLook: begin
        dy_q     <= dy;
        x_q      <= rect_i.x;
        words_q  <= rect_i.width[15:1];
        half_q   <= rect_i.width[0];
        credit_q <= '0;
      end
      FtRow:   line_q <= framebuffer_i.base[AddrWidth-1:3] + 38'(dy_q * framebuffer_i.stride[15:3]);
      FtStart: word_q <= line_q;
      FtNext: begin
        beats_q  <= beats;
        credit_q <= credit;
      end
      FtBurst: begin
        if (!spent) credit_q <= credit;
        if (done_i) word_q <= {word_q[37:4] + 1'b1, 4'b0};
      end
      default: ;
    endcase
    if (moves) begin
      x_q <= x_q + 16'd2;
      if (words_q == '0) half_q <= 1'b0;
      else words_q <= words_q - 1'b1;
    end
  end

  assign quiet_o   = state_q == FtIdle && !again_q;
  assign vm_o      = vm_q;
  assign count_o   = state_q == FtCount;
  assign fault_o   = fault_q;
  assign request_o = state_q == FtBurst;
  assign burst_o   = '{vm: vm_q, write: 1'b0, addr: {word_q, 3'b0}, beats: beats_q};

  logic paint;  // a framebuffer that is turned off during a burst stays black
  assign paint          = state_q == FtBurst && framebuffer_i.on;
  assign write_o        = moves;
  assign write_second_o = moves && words_q != '0;
  assign position_o     = x_q[PosBits-1:0];
  assign first_o        = paint ? data_i[23:0] : '0;
  assign second_o       = paint ? data_i[55:32] : '0;

  logic unused;
  assign unused = &{1'b0, data_i[63:56], data_i[31:24], framebuffer_i.stride[2:0],
                    framebuffer_i.base[2:0]};

endmodule
