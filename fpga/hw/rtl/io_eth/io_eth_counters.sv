// SPDX-License-Identifier: Apache-2.0
// Counts lost frames by VM and reason, and bad ones by what was wrong with them. The counters are
// in distributed RAM, and one is incremented in a cycle: what happens to several VMs at once is
// counted one VM after the other. They start with 0 when the FPGA is configured, and wrap around.
module io_eth_counters
  import fabric_pkg::*;
  import io_eth_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic        clk_i,
  /// Asynchronous, active low; events that wait are forgotten, the counts are kept.
  input  logic        rst_ni,
  /// Pulse; the next one is at least two cycles later.
  input  logic        wire_i,
  input  wire_e       wire_why_i,
  /// Pulse: a frame that arrived is lost for these VMs; the next one is at least 64 cycles later.
  input  logic        arrived_i,
  input  logic [NumVms-1:0] arrived_mask_i,
  input  lost_e       arrived_why_i,
  /// Pulse: a frame of this VM was not sent; the next one is at least six cycles later.
  input  logic        forged_i,
  input  vm_t         forged_vm_i,
  /// A frame was not delivered: a level, counted when lost_ready_o.
  input  logic        lost_i,
  input  vm_t         lost_vm_i,
  input  lost_e       lost_why_i,
  output logic        lost_ready_o,
  // read in the same cycle; for LostWire the VM is the number of a wire_e
  input  lost_e       read_why_i,
  input  vm_t         read_vm_i,
  /// Frames since the FPGA was configured, modulo 2^32.
  output logic [31:0] count_o
);

  // Row of a counter.
  typedef struct packed {
    lost_e why;
    vm_t   vm;
  } row_t;

  // By reason and VM; read and incremented in the same cycle.
  logic [31:0] counts [128];
  initial for (int i = 0; i < 128; i++) counts[i] = '0;

  logic forged_q;
  vm_t forged_vm_q, arrived_vm;
  logic [NumVms-1:0] arrived_q, arrived_next;
  lost_e arrived_why_q;
  logic count;
  row_t row;

  always_comb begin
    arrived_vm   = '0;
    arrived_next = '0;
    for (int v = int'(NumVms) - 1; v >= 0; v--) begin
      if (arrived_q[v]) begin
        arrived_vm   = vm_t'(v);
        arrived_next = NumVms'(1) << v;
      end
    end
  end

  always_comb begin
    // Pulses go first: the wire's cannot wait at all, a forged one for a cycle. What waits for
    // longest, frames lost for several VMs, has 64 cycles.
    count = 1'b1;
    if (wire_i) row = '{why: LostWire, vm: vm_t'(wire_why_i)};
    else if (forged_q) row = '{why: LostForged, vm: forged_vm_q};
    else if (lost_i) row = '{why: lost_why_i, vm: lost_vm_i};
    else begin
      row   = '{why: arrived_why_q, vm: arrived_vm};
      count = arrived_q != '0;
    end
  end
  assign lost_ready_o = !wire_i && !forged_q;

  always_ff @(posedge clk_i) begin
    if (count) counts[row] <= counts[row] + 1'b1;
  end
  assign count_o = counts[{read_why_i, read_vm_i}];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      forged_q      <= 1'b0;
      forged_vm_q   <= '0;
      arrived_q     <= '0;
      arrived_why_q <= LostVlan;
    end else begin
      // Each kind of event has one place to wait; the distances at the ports say that it is free
      // again.
      if (forged_i) begin
        forged_q    <= 1'b1;
        forged_vm_q <= forged_vm_i;
      end else if (!wire_i) forged_q <= 1'b0;
      if (arrived_i) begin
        arrived_q     <= arrived_mask_i;
        arrived_why_q <= arrived_why_i;
      end else if (!wire_i && !forged_q && !lost_i) arrived_q <= arrived_q & ~arrived_next;
    end
  end

endmodule
