// SPDX-License-Identifier: Apache-2.0
// Commands and results of the timing-accurate GPIO (gpio_processor).
package io_gpio_pkg;

  // A set command selects pins in banks of 16. A write command has a value for each of 32 pins.
  localparam int unsigned MaxPins = 32;
  localparam int unsigned BankPins = 16;

  // The low 48 bits of the time base. Two times are compared by the sign of their difference, so a
  // command's time lies within 2^47 cycles (16 days at 100 MHz) of the present.
  localparam int unsigned TimeBits = 48;
  typedef logic [TimeBits-1:0] gpio_time_t;
  typedef logic [MaxPins-1:0] gpio_pins_t;
  typedef logic [$clog2(MaxPins)-1:0] gpio_pin_t;
  typedef logic [7:0] gpio_count_t;

  // The encoding is documented in gpio_processor.
  typedef enum logic [3:0] {
    // 0 and 12..15 are no operations; they are reported as bad.
    GpWait    = 4'd1,
    GpUntil   = 4'd2,
    GpSet     = 4'd3,
    GpWrite   = 4'd4,
    GpDrive   = 4'd5,
    GpSample  = 4'd6,
    GpCapture = 4'd7,
    GpLoop    = 4'd8,
    GpRepeat  = 4'd9,
    GpPause   = 4'd10,
    GpEnd     = 4'd11
  } gpio_op_e;

  typedef struct packed {
    logic [3:0]  op;
    logic        falling;   // capture: edges that end it
    logic        rising;
    logic        bank;      // set, drive
    logic [15:0] mask;      // set, drive; the upper half of a write's value
    logic [15:0] value;     // set, drive; the lower half of a write's value
  } gpio_action_t;

  typedef struct packed {
    // the delay counts from the cycle in which the sequencer takes the command
    logic         now;
    gpio_action_t action;
    // with the value, 48 bits for wait, until and capture, whose pin is in the mask
    logic [23:0]  delay;
  } gpio_command_t;

  // What a sequencer does to its VM's pins in this cycle.
  typedef struct packed {
    logic        level;   // changes levels
    logic        drive;   // changes output enables
    logic        all;     // a write: all own pins
    logic        bank;
    // Pins of the bank, pin 16 * bank in bit 0; new levels or enables of these.
    logic [15:0] mask;
    logic [15:0] value;
  } gpio_change_t;

  typedef struct packed {
    logic [3:0]  op;         // of the command
    logic        bad;        // no such command, or a loop or repeat where it is not allowed
    logic        timeout;    // capture: no edge
    logic        forbidden;  // the command names a pin that the VM does not own
    logic        late;
    logic [15:0] by;         // cycles too late; 16'hffff: at least as many
  } gpio_report_t;

  // A result as stored, and as read.
  typedef struct packed {
    gpio_report_t report;
    gpio_pins_t   pins;  // levels of the VM's pins
    // Time of the result, in cycles; when read, extended to 64 bits.
    gpio_time_t   stamp;
  } gpio_entry_t;

  typedef struct packed {
    gpio_report_t report;
    gpio_pins_t   pins;
    logic [63:0]  stamp;
  } gpio_result_t;

  // The counts stop at their maximum.
  typedef struct packed {
    logic        running;
    // Results that were late.
    gpio_count_t late;
    gpio_count_t forbidden;  // commands with a report `forbidden` or `bad`
    gpio_count_t dropped;    // results
    logic [7:0]  space;      // for commands
  } gpio_status_t;

endpackage
