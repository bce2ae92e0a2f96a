// SPDX-License-Identifier: Apache-2.0
// Counts the lines of each VM that are not complete, in distributed RAM. A write of a framebuffer's
// `on` clears them.
module display_counters
  import fabric_pkg::*;
  import display_pkg::*;
(
  input  logic       clk_i,
  /// Level: a line of the VM is not complete because of a fault, or otherwise because of slow
  /// memory; counted with ready_o. No reset: a row is shown only while the VM's framebuffer is on,
  /// and turning it on clears the row.
  input  logic       count_i,
  input  logic       fault_i,
  input  vm_t        count_vm_i,
  output logic       ready_o,
  /// Pulse: the counters of vm_i become 0.
  input  logic       clear_i,
  input  vm_t        vm_i,
  /// The framebuffer of vm_i is on; if not, the row may hold anything.
  input  logic       on_i,
  /// Of vm_i, read in the same cycle.
  output fb_status_t status_o
);

  logic [15:0] counts [16];  // faults, underruns
  logic [7:0] faults, underruns, now;

  assign {faults, underruns} = counts[count_vm_i];
  assign now     = fault_i ? faults : underruns;
  // One write a cycle: a clear goes first, and counting waits for a cycle.
  assign ready_o = !clear_i;

  logic [7:0] more;
  // Saturates at 255.
  assign more = now + 8'(now != '1);
  always_ff @(posedge clk_i) begin
    if (clear_i) counts[vm_i] <= '0;
    else if (count_i) counts[count_vm_i] <= fault_i ? {more, underruns} : {faults, more};
  end

  always_comb begin
    {status_o.faults, status_o.underruns} = on_i ? counts[vm_i] : '0;
    status_o.fault = status_o.faults != '0;
  end

endmodule
