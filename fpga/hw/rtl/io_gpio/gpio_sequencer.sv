// SPDX-License-Identifier: Apache-2.0
// Executes the commands of one VM, each in the cycle of its time. The next command is taken from
// the memory while the current one waits, and its time is computed then: nothing but the comparison
// of two times is left for the cycle itself.
module gpio_sequencer
  import io_gpio_pkg::*;
(
  input  logic          clk_i,
  /// Asynchronous, active low; stopped after it.
  input  logic          rst_ni,
  /// The time base's low 48 bits, and its next value, computed once for all VMs.
  input  gpio_time_t    time_i,
  /// time_i + 1, the time at which what happens in this cycle takes effect.
  input  gpio_time_t    next_i,
  /// Pulse: start, or continue, with the commands in the memory.
  input  logic          start_i,
  /// Discards the current command; the commands in the memory are removed by the same signal.
  input  logic          stop_i,
  /// Level: commands are taken; low from the cycle after stop_i or after the end command.
  output logic          running_o,
  /// Commands (gpio_commands): the next one, taken with take_o, in the cycle in which the present
  /// one is over or before.
  input  gpio_command_t head_i,
  input  logic          head_valid_i,
  input  logic          misplaced_i,
  output logic          take_o,
  /// Pins (gpio_pins): own ones; edges of the inputs in this cycle; change_o is done at its end.
  input  gpio_pins_t    own_i,
  input  gpio_pins_t    rose_i,
  input  gpio_pins_t    fell_i,
  output gpio_change_t  change_o,
  /// Level: this report is made in this cycle, with this cycle's time and levels. That is the cycle
  /// after change_o, or for a capture that an edge ends the cycle of the edge. It cannot be held
  /// back.
  output logic          report_valid_o,
  output gpio_report_t  report_o
);

  gpio_action_t action_q;
  gpio_time_t due_q;  // time of the current command, or of the last one
  // A command waits for its time; it is reported and ignored; fresh_q: none had a time since the
  // start.
  logic valid_q, bad_q, running_q, fresh_q;

  // ---- The next command ----
  logic timed, acts, bad, done, ends, absolute, from_now, hit, fire;

  logic [3:0] op;
  assign op    = head_i.action.op;
  assign timed = op inside {GpWait, GpUntil, GpSet, GpWrite, GpDrive, GpSample, GpCapture, GpPause,
                            GpEnd};
  assign acts  = !(op inside {GpWait, GpUntil, GpLoop, GpRepeat}) || misplaced_i;
  assign bad   = misplaced_i || !(timed || op inside {GpLoop, GpRepeat});
  assign done  = fire || hit;
  assign ends  = fire && action_q.op == GpEnd;
  // The next command is taken as soon as its place is free.
  assign take_o = running_q && head_valid_i && !stop_i && (!valid_q || (done && !ends));

  // After a start there is no last command, and after an edge the last command's time is that of
  // the edge.
  gpio_time_t origin, delay;
  logic long_delay, use_delay;
  assign use_delay  = take_o && timed;
  assign absolute   = use_delay && op == GpUntil;
  assign from_now   = hit || (use_delay && (head_i.now || fresh_q));
  assign long_delay = op inside {GpWait, GpUntil, GpCapture};
  assign delay[23:0]          = use_delay ? head_i.delay : '0;
  assign delay[TimeBits-1:24] = use_delay && long_delay
                                ? {head_i.action.mask[7:0], head_i.action.value} : '0;
  always_comb begin
    origin = due_q;
    if (from_now) origin = time_i;
    if (absolute) origin = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      bad_q    <= 1'b0;
      action_q <= '0;
      due_q    <= '0;
    end else begin
      if (stop_i || done || take_o) valid_q <= take_o && acts;
      if (take_o) begin
        action_q <= head_i.action;
        bad_q    <= bad;
      end
      if (use_delay || hit) due_q <= origin + delay;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      fresh_q   <= 1'b1;
    end else begin
      // A start in the cycle of an end continues with the commands that remain.
      if (stop_i) running_q <= 1'b0;
      else if (start_i) running_q <= 1'b1;
      else if (ends) running_q <= 1'b0;
      if (stop_i || ends) fresh_q <= 1'b1;
      else if (use_delay) fresh_q <= 1'b0;
    end
  end
  assign running_o = running_q;

  // ---- The current command ----
  gpio_time_t ahead;
  logic reached, past, is_capture, fired_q, foreign, at_once;
  gpio_pin_t pin;
  logic [15:0] own_of_bank;

  // Its sign tells past from future, see TimeBits.
  assign ahead      = next_i - due_q;
  assign reached    = !ahead[TimeBits-1];
  assign past       = reached && ahead != '0;
  assign is_capture = action_q.op == GpCapture;
  assign pin        = action_q.mask[12:8];

  assign own_of_bank = action_q.bank ? own_i[31:16] : own_i[15:0];
  always_comb begin
    foreign = 1'b0;
    if (is_capture) foreign = !own_i[pin];
    if (action_q.op inside {GpSet, GpDrive}) foreign = (action_q.mask & ~own_of_bank) != '0;
  end
  assign at_once = bad_q || (is_capture && foreign);

  // The report of the previous command takes the cycle of its effect.
  assign hit  = valid_q && !bad_q && is_capture && !foreign && !stop_i && !fired_q && !past
                && ((action_q.rising && rose_i[pin]) || (action_q.falling && fell_i[pin]));
  assign fire = valid_q && !stop_i && !hit && (reached || at_once);

  assign change_o.level = fire && !bad_q && action_q.op inside {GpSet, GpWrite};
  assign change_o.drive = fire && !bad_q && action_q.op == GpDrive;
  assign change_o.all   = action_q.op == GpWrite;
  assign change_o.bank  = action_q.bank;
  assign change_o.mask  = action_q.mask;
  assign change_o.value = action_q.value;

  // ---- The report ----
  gpio_report_t report_d, report_q;
  logic report_valid_q, too_far;
  assign too_far = ahead[TimeBits-2:16] != '0;
  always_comb begin
    report_d.op        = action_q.op;
    report_d.bad       = bad_q;
    report_d.timeout   = is_capture && !at_once;
    report_d.forbidden = foreign && !bad_q;
    report_d.late      = past && !at_once;
    report_d.by        = report_d.late ? ahead[15:0] | {16{too_far}} : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fired_q        <= 1'b0;
      report_valid_q <= 1'b0;
      report_q       <= '0;
    end else begin
      fired_q        <= fire;
      // A cycle later, when the pins have their new levels and the time is that of the effect.
      report_valid_q <= fire && (action_q.op inside {GpSample, GpCapture} || past || foreign
                                 || bad_q);
      report_q       <= report_d;
    end
  end

  assign report_valid_o = report_valid_q || hit;
  assign report_o       = fired_q ? report_q : '{op: GpCapture, default: '0};

endmodule
