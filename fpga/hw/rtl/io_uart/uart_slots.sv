// SPDX-License-Identifier: Apache-2.0
// What each cycle of the shared UART does, and for which VM: the state of all VMs is in memories
// with one port. It serves io_uart_core, and owns the order of the slots: accesses, a check after
// an access, flushes, received bytes, bytes to send, scans.
module uart_slots
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// As of io_uart.
  parameter int unsigned NumVms = 4
) (
  input  logic clk_i,
  /// Asynchronous, active low; begin_o follows.
  input  logic rst_ni,
  /// Pulse, executed in the same cycle.
  input  logic access_i,
  input  vm_t  access_vm_i,
  /// Pulse, executed in the next cycle that is free.
  input  logic flush_i,
  input  vm_t  flush_vm_i,
  /// Until their slots.
  input  logic receive_i,
  input  vm_t  receive_vm_i,
  input  logic take_i,
  input  vm_t  take_vm_i,
  /// Combinational: what this cycle does, for vm_o. The blocks execute it at the end of the cycle.
  output uart_slot_e slot_o,
  output vm_t  vm_o,
  /// After a reset each VM is cleared by a scan, before anything else happens to it.
  output logic begin_o,
  /// Pulses: the time of eight bits, or that for an incomplete line, is over; and the same for the
  /// VM of a scan, once.
  input  logic eight_i,
  input  logic age_i,
  output logic eight_o,
  output logic age_o
);

  // accessed_q: the cycle before was an access. looked_q: the last cycle without one was SlLook.
  // eight_q, age_q: a pulse has come in this pass over the VMs, and the next pass, in eight_pass_q
  // and age_pass_q, gives it to each VM.
  logic flush_q, accessed_q, looked_q, ends, eight_q, age_q, eight_pass_q, age_pass_q;
  vm_t flush_vm_q, vm_q, scan_q;

  always_comb begin
    {slot_o, vm_o} = {begin_o ? SlClear : SlScan, scan_q};
    if (access_i) {slot_o, vm_o} = {SlAccess, access_vm_i};
    else if (!begin_o) begin
      // Every other free cycle is for others than the VM that has accessed its registers.
      if (accessed_q && !looked_q) {slot_o, vm_o} = {SlLook, vm_q};
      else if (flush_q) {slot_o, vm_o} = {SlClear, flush_vm_q};
      else if (receive_i) {slot_o, vm_o} = {SlReceive, receive_vm_i};
      else if (take_i) {slot_o, vm_o} = {SlTake, take_vm_i};
    end
  end

  logic scans;
  assign scans   = slot_o == SlScan || (begin_o && !access_i);
  assign ends    = scans && scan_q == vm_t'(NumVms - 1);
  assign eight_o = slot_o == SlScan && eight_pass_q;
  assign age_o   = slot_o == SlScan && age_pass_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begin_o    <= 1'b1;
      scan_q     <= '0;
      vm_q       <= '0;
      accessed_q <= 1'b0;
      looked_q   <= 1'b0;
      flush_q    <= 1'b0;
      flush_vm_q <= '0;
    end else begin
      if (scans) scan_q <= ends ? '0 : scan_q + 1'b1;
      if (ends) begin_o <= 1'b0;
      vm_q       <= vm_o;
      accessed_q <= access_i;
      if (!access_i) looked_q <= slot_o == SlLook;
      if (flush_i) begin
        flush_q    <= 1'b1;
        flush_vm_q <= flush_vm_i;
      end else if (slot_o == SlClear) flush_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {eight_q, age_q, eight_pass_q, age_pass_q} <= '0;
    else begin
      eight_q <= eight_i || (eight_q && !ends);
      age_q   <= age_i || (age_q && !ends);
      if (ends) {eight_pass_q, age_pass_q} <= {eight_q, age_q};
    end
  end

endmodule
