// SPDX-License-Identifier: Apache-2.0
// Timing-accurate GPIO (GPIOCP): each VM submits commands, and its own sequencer executes each in
// exactly the cycle of its time. The VMs share only the pins' registers and the port that submits
// commands, so no VM delays another one's pins.
//
// Time. A command at time t takes effect in the cycle in which time_i == t: a set changes the pin's
// register at the clock edge at which time_i becomes t. A command's time is the previous command's
// time plus its own delay, so that delays do not accumulate an error; `until` sets it to an
// absolute time. After a start, and with `now`, the delay counts from the cycle in which the
// sequencer takes the command. After an edge it counts from the time of the edge. A sequencer takes
// one command a cycle: a command accepted in cycle c, with no command before it, is exact if its
// time is at least c + 3 (wait and until take a cycle, so a set after until, both accepted by cycle
// c, needs c + 3, too). A later command is executed at once, and reported as late with the number
// of cycles. It is not skipped, because the levels after a skipped set would be wrong from then on,
// not only late.
//
// A command has 64 bits: now [63], op [62:59], operands, delay.
//   wait     1   delay [47:0]
//   until    2   time [47:0]: the low bits of the time within 2^47 cycles of the present
//   set      3   bank [56], mask [55:40], value [39:24], delay [23:0]: levels of pins
//                16 * bank + 0..15
//   write    4   value [55:24], delay [23:0]: levels of all 32 pins that are the VM's
//   drive    5   as set, for output enables
//   sample   6   delay [23:0]: a result with the levels of the VM's pins
//   capture  7   falling [58], rising [57], pin [52:48], delay [47:0]: a result at the first edge
//                of the pin, or at the command's time if there is none before. It sees edges after
//                the previous command's time.
//   loop     8   count [15:0]: the commands up to the repeat are executed as often; 0: until a
//                stop. Not nested.
//   repeat   9   the end of a loop's body
//   pause    10  delay [23:0]: nothing; commands after it, such as a capture, start after its time
//   end      11  delay [23:0]: the sequencer stops, and the commands after it remain for the next
//                start
// wait, until, loop and repeat have no time of their own. An unknown command and a misplaced loop
// or repeat are reported and ignored.
//
// Results: samples, captures, and commands that are late, forbidden or bad. Each has the time of
// its effect, and the levels of the VM's own pins in that cycle. Inputs pass through two
// flip-flops: levels and edges in a result with time s are those of the pads in cycle s - 2.
//
// A set of foreign pins changes only the own pins among them, and is reported as forbidden, as is a
// capture of a foreign pin.
module gpio_processor
  import fabric_pkg::*;
  import io_gpio_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumPins = 32,
  /// Commands of a VM, a power of two, 2..128.
  parameter int unsigned CommandDepth = 32,
  /// Results of a VM, a power of two, at least 2.
  parameter int unsigned ResultDepth = 16
) (
  input  logic        clk_i,
  /// Asynchronous, active low; all sequencers are stopped and all pins inputs after it.
  input  logic        rst_ni,
  /// The time base that the harts read: one more in every cycle.
  input  logic [63:0] time_i,
  // configuration by the manager
  /// Pins of each VM; of several VMs with the same pin, the first one owns it. A pin that moves
  /// from one VM to another keeps its level, unless the manager flushes the VM that loses it.
  input  logic [NumVms-1:0][NumPins-1:0] owner_i,
  /// Pulse: in the next cycle the VM's sequencer is stopped, its commands and results are removed,
  /// its counts are 0, and its pins are inputs with level 0.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  /// The VMs' side: a pulse submits a command of command_vm_i; it can be executed from the next
  /// cycle on.
  input  logic        command_valid_i,
  input  vm_t         command_vm_i,
  input  logic [63:0] command_i,
  output logic [NumVms-1:0] command_ready_o,
  /// In the cycle of command_valid_i: the VM's memory is full, and the command is lost.
  output logic        refused_o,
  /// Pulse: the VM's sequencer starts with the commands in the memory; those to come follow.
  input  logic [NumVms-1:0] start_i,
  /// Pulse: the sequencer stops, and all its commands are removed. Pins and results remain. Wins
  /// against start_i.
  input  logic [NumVms-1:0] stop_i,
  /// The VM whose first result is read, in the same cycle.
  input  vm_t         result_vm_i,
  output gpio_result_t result_o,
  output logic        result_valid_o,
  /// VMs that have results.
  output logic [NumVms-1:0] results_o,
  /// Pulse: removes the first result of result_vm_i.
  input  logic        result_pop_i,
  output gpio_status_t [NumVms-1:0] status_o,
  // the pads
  input  logic [NumPins-1:0] pin_i,
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o
);

  if (NumVms < 1 || NumVms > MaxVms || NumPins < 1 || NumPins > MaxPins || CommandDepth < 2
      || CommandDepth > 128 || ResultDepth < 2 || CommandDepth != 1 << $clog2(CommandDepth)
          || ResultDepth != 1 << $clog2(ResultDepth))
  begin : gen_out_of_range
    $error("parameters of gpio_processor out of range");
  end

  gpio_time_t now, next;
  assign now  = time_i[TimeBits-1:0];
  assign next = now + 1'b1;

  gpio_pins_t [NumVms-1:0] own;
  gpio_change_t [NumVms-1:0] change;
  gpio_pins_t level, rose, fell;
  gpio_entry_t [NumVms-1:0] entry;
  logic [NumVms-1:0] entry_valid;

  gpio_pins #(.NumVms(NumVms), .NumPins(NumPins)) i_pins (
    .clk_i,
    .rst_ni,
    .owner_i,
    .own_o     (own),
    .change_i  (change),
    .flush_i,
    .flush_vm_i,
    .level_o   (level),
    .rose_o    (rose),
    .fell_o    (fell),
    .pin_i,
    .pin_o,
    .pin_oe_o
  );

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    gpio_command_t head;
    logic flush, stop, head_valid, misplaced, take, report_valid;
    logic [$clog2(CommandDepth):0] space;
    gpio_report_t report;
    assign flush = flush_i && flush_vm_i == vm_t'(v);
    assign stop  = flush || stop_i[v];

    gpio_commands #(.Depth(CommandDepth)) i_commands (
      .clk_i,
      .rst_ni,
      .flush_i     (stop),
      .push_i      (command_valid_i && command_vm_i == vm_t'(v)),
      .command_i   (command_i),
      .space_o     (space),
      .head_o      (head),
      .head_valid_o(head_valid),
      .misplaced_o (misplaced),
      .take_i      (take)
    );

    gpio_sequencer i_sequencer (
      .clk_i,
      .rst_ni,
      .time_i        (now),
      .next_i        (next),
      .start_i       (start_i[v]),
      .stop_i        (stop),
      .running_o     (status_o[v].running),
      .head_i        (head),
      .head_valid_i  (head_valid),
      .misplaced_i   (misplaced),
      .take_o        (take),
      .own_i         (own[v]),
      .rose_i        (rose),
      .fell_i        (fell),
      .change_o      (change[v]),
      .report_valid_o(report_valid),
      .report_o      (report)
    );

    gpio_results #(.Depth(ResultDepth)) i_results (
      .clk_i,
      .rst_ni,
      .flush_i      (flush),
      .valid_i      (report_valid),
      .entry_i      ('{report: report, pins: level & own[v], stamp: now}),
      .entry_o      (entry[v]),
      .entry_valid_o(entry_valid[v]),
      .pop_i        (result_pop_i && result_vm_i == vm_t'(v)),
      .late_o       (status_o[v].late),
      .forbidden_o  (status_o[v].forbidden),
      .dropped_o    (status_o[v].dropped)
    );

    assign status_o[v].space  = 8'(space);
    assign command_ready_o[v] = space != '0;
  end

  assign results_o = entry_valid;

  // ---- The ports that the VMs share ----
  gpio_entry_t first;
  always_comb begin
    refused_o      = command_valid_i;
    first          = '0;
    result_valid_o = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (command_vm_i == vm_t'(v) && command_ready_o[v]) refused_o = 1'b0;
      if (result_vm_i == vm_t'(v)) begin
        first          = entry[v];
        result_valid_o = entry_valid[v];
      end
    end
  end

  // A stored time is extended to 64 bits: it is at most 2^48 - 1 cycles ago.
  logic wrapped;
  assign wrapped         = first.stamp > now;
  assign result_o.report = first.report;
  assign result_o.pins   = first.pins;
  assign result_o.stamp  = {time_i[63:TimeBits] - 16'(wrapped), first.stamp};

endmodule
