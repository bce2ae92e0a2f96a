// SPDX-License-Identifier: Apache-2.0
// The flags of every IF: START pending, over, saved, fault, the interrupt enables and their mask;
// they determine the interrupt of every VM. It owns all state of the IF pages that is not memory
// (if_mem).
module if_flags
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 4,
  parameter int unsigned NumPrrs = 3
) (
  input  logic   clk_i,
  /// Asynchronous, active low; all flags are 0 after it, and no interrupt is masked.
  input  logic   rst_ni,
  /// The IF that the bus addresses: the pulses below change it, and stat_o, over_o and int_o
  /// describe it in the same cycle. A VM or device that does not exist selects nothing and reads as
  /// 0.
  input  vm_t    vm_i,
  input  dev_t   dev_i,
  /// Pulses: the bus writes START, OVER or INT_CTRL.
  input  logic   set_start_i,
  input  logic   clear_over_i,
  input  logic   set_int_i,
  /// Enables of the interrupt: bit 0 for a job that is over, bit 1 for one that failed.
  input  logic [1:0] int_i,
  // manager
  /// Pulse: clear all flags of this IF, unless it is connected.
  input  logic   reset_i,
  input  vm_t    reset_vm_i,
  input  dev_t   reset_dev_i,
  /// Pulse: mask the interrupt of this IF, or no longer.
  input  logic   set_mask_i,
  input  vm_t    mask_vm_i,
  input  dev_t   mask_dev_i,
  /// 1: mask.
  input  logic   masked_i,
  output logic [1:0] int_o,
  /// The registers STAT and OVER.
  output logic [31:0] stat_o,
  output logic   over_o,
  /// Regions: which are connected to the IF of their client, and run a job.
  input  logic    [NumPrrs-1:0] connected_i,
  input  logic    [NumPrrs-1:0] running_i,
  input  client_t [NumPrrs-1:0] client_i,
  /// Pulses of prr_run for the connected IF; changes are visible in the next cycle.
  input  logic    [NumPrrs-1:0] start_taken_i,
  input  logic    [NumPrrs-1:0] over_i,
  input  logic    [NumPrrs-1:0] saved_i,
  input  logic    [NumPrrs-1:0] restored_i,
  input  logic    [NumPrrs-1:0] failed_i,
  input  fault_e  [NumPrrs-1:0] failed_why_i,
  /// Level, 0 without a connected IF: START is pending; a saved context exists.
  output logic    [NumPrrs-1:0] start_pending_o,
  output logic    [NumPrrs-1:0] ctx_saved_o,
  // interrupts
  /// Level, from registers: an IF of the VM is over or failed, its enable is set, and it is not
  /// masked.
  output logic [NumVms-1:0] irq_o
);

  // saved: the context buffer holds a complete context. fault: why the last job failed, until OVER
  // is cleared. enable: see int_i.
  typedef struct packed {
    logic       start;
    logic       over;
    logic       saved;
    fault_e     fault;
    logic [1:0] enable;
  } flags_t;

  flags_t [NumVms-1:0][NumDevs-1:0] flags_q;
  logic [NumVms-1:0][NumDevs-1:0] masked_q;
  flags_t selected;

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic [NumDevs-1:0] wants;
    for (genvar d = 0; d < int'(NumDevs); d++) begin : gen_dev
      logic addressed, clears, masks;
      logic [NumPrrs-1:0] here;
      flags_t next;
      // An IF that is connected to a region is not cleared: its job would lose its START or its
      // context.
      assign addressed = vm_i == vm_t'(v) && dev_i == dev_t'(d);
      assign clears = reset_i && reset_vm_i == vm_t'(v) && reset_dev_i == dev_t'(d) && here == '0;
      assign masks = set_mask_i && mask_vm_i == vm_t'(v) && mask_dev_i == dev_t'(d);
      for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_here
        assign here[p] = connected_i[p] && client_i[p].vm == vm_t'(v)
                         && client_i[p].dev == dev_t'(d);
      end
      always_comb begin
        next = flags_q[v][d];
        // Later assignments have priority: a job that ends in the cycle in which the guest clears
        // OVER is not lost, and a START in the cycle of a reset stays pending.
        if (|(here & start_taken_i)) next.start = 1'b0;
        if (addressed && clear_over_i) begin
          next.over  = 1'b0;
          next.fault = FaultNone;
        end
        if (|(here & over_i)) next.over = 1'b1;
        if (|(here & saved_i)) next.saved = 1'b1;
        if (|(here & restored_i)) next.saved = 1'b0;
        for (int p = 0; p < int'(NumPrrs); p++) begin
          // A failed job is over, too, and cannot be resumed.
          if (here[p] && failed_i[p]) begin
            next.fault = failed_why_i[p];
            next.over  = 1'b1;
            next.saved = 1'b0;
          end
        end
        if (clears) next = '0;
        if (addressed && set_start_i) next.start = 1'b1;
        if (addressed && set_int_i) next.enable = int_i;
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) flags_q[v][d] <= '0;
        else flags_q[v][d] <= next;
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) masked_q[v][d] <= 1'b0;
        else if (masks) masked_q[v][d] <= masked_i;
        // A reset of the IF ends its mask; a mask that is set in the same cycle wins.
        else if (clears) masked_q[v][d] <= 1'b0;
      end
      // A failed job has a separate enable.
      assign wants[d] = flags_q[v][d].over && !masked_q[v][d]
                        && (flags_q[v][d].fault == FaultNone ? flags_q[v][d].enable[0]
                            : flags_q[v][d].enable[1]);
    end
    assign irq_o[v] = |wants;
  end

  // The flags that a region sees of its connected IF.
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_seen
    always_comb begin
      start_pending_o[p] = 1'b0;
      ctx_saved_o[p]     = 1'b0;
      for (int v = 0; v < int'(NumVms); v++) begin
        for (int d = 0; d < int'(NumDevs); d++) begin
          if (connected_i[p] && client_i[p].vm == vm_t'(v) && client_i[p].dev == dev_t'(d)) begin
            start_pending_o[p] = flags_q[v][d].start;
            ctx_saved_o[p]     = flags_q[v][d].saved;
          end
        end
      end
    end
  end

  // The flags that the bus reads.
  always_comb begin
    selected = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      for (int d = 0; d < int'(NumDevs); d++) begin
        if (vm_i == vm_t'(v) && dev_i == dev_t'(d)) selected = flags_q[v][d];
      end
    end
  end

  logic connected, busy;
  prr_t where;
  always_comb begin
    connected = 1'b0;
    busy      = 1'b0;
    where     = '0;
    for (int p = 0; p < int'(NumPrrs); p++) begin
      if (connected_i[p] && client_i[p].vm == vm_i && client_i[p].dev == dev_i) begin
        connected = 1'b1;
        busy      = running_i[p];
        where     = prr_t'(p);
      end
    end
  end

  assign stat_o = {17'b0, where, 1'b0, selected.fault, 3'b0, selected.saved, selected.start,
                   selected.over, busy, connected};
  assign over_o = selected.over;
  assign int_o  = selected.enable;

  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int p = 0; p < int'(NumPrrs); p++) unused = unused & (|client_i[p].prio);
  end

endmodule
