// SPDX-License-Identifier: Apache-2.0
// The pins: each follows the sequencer of the VM that owns it, and no other. A pin without an owner
// is an input.
module gpio_pins
  import fabric_pkg::*;
  import io_gpio_pkg::*;
#(
  /// As of gpio_processor.
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumPins = 32
) (
  input  logic         clk_i,
  /// Asynchronous, active low; all pins are inputs after it.
  input  logic         rst_ni,
  /// Pins that each VM may use. If several VMs have a pin, the first of them owns it.
  input  logic [NumVms-1:0][NumPins-1:0] owner_i,
  /// The pins that each VM owns, combinational; at most one VM for each pin.
  output gpio_pins_t   [NumVms-1:0] own_o,
  /// What each VM's sequencer does in this cycle; the registers change at its end.
  input  gpio_change_t [NumVms-1:0] change_i,
  /// Makes the VM's pins inputs, with level 0.
  input  logic         flush_i,
  input  vm_t          flush_vm_i,
  /// Synchronized levels, those of the pads two cycles ago, and their edges.
  output gpio_pins_t   level_o,
  output gpio_pins_t   rose_o,
  output gpio_pins_t   fell_o,
  // the pads: pin_i is asynchronous; pin_o and pin_oe_o, 1 to drive, are registers that change in
  // the cycle after change_i
  input  logic [NumPins-1:0] pin_i,
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o
);

  // ---- Owners ----
  logic [NumPins-1:0] owned;
  vm_t [NumPins-1:0] owner;
  always_comb begin
    owned = '0;
    owner = '0;
    own_o = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      for (int p = 0; p < int'(NumPins); p++) begin
        own_o[v][p] = owner_i[v][p] && !owned[p];
        if (own_o[v][p]) owner[p] = vm_t'(v);
      end
      owned |= owner_i[v];
    end
  end

  // ---- Outputs ----
  for (genvar p = 0; p < int'(NumPins); p++) begin : gen_pin
    localparam int unsigned Bit = p % int'(BankPins);
    localparam bit Upper = p >= int'(BankPins);
    gpio_change_t change;
    logic selected, value, clear;
    always_comb begin
      change = '0;
      for (int v = 0; v < int'(NumVms); v++) if (owner[p] == vm_t'(v)) change = change_i[v];
    end
    assign selected = change.all || (change.bank == Upper && change.mask[Bit]);
    assign value    = change.all && Upper ? change.mask[Bit] : change.value[Bit];
    // A flush wins over a change in the same cycle.
    assign clear    = !owned[p] || (flush_i && flush_vm_i == owner[p]);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        pin_o[p]    <= 1'b0;
        pin_oe_o[p] <= 1'b0;
      end else if (clear) begin
        pin_o[p]    <= 1'b0;
        pin_oe_o[p] <= 1'b0;
      end else if (selected) begin
        if (change.level) pin_o[p] <= value;
        if (change.drive) pin_oe_o[p] <= value;
      end
    end
  end

  // ---- Inputs ----
  (* ASYNC_REG = "TRUE" *) logic [NumPins-1:0] meta_q, level_q;
  logic [NumPins-1:0] last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      meta_q  <= '0;
      level_q <= '0;
      last_q  <= '0;
    end else begin
      meta_q  <= pin_i;
      level_q <= meta_q;
      last_q  <= level_q;
    end
  end
  assign level_o = gpio_pins_t'(level_q);
  assign rose_o  = gpio_pins_t'(level_q & ~last_q);
  assign fell_o  = gpio_pins_t'(last_q & ~level_q);

endmodule
