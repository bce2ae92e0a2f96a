// SPDX-License-Identifier: Apache-2.0
// The connection matrix: which regions are connected to their client's IF. A region has one client
// at a time, and a connection is made only for the client that the monitor allocated the region to,
// so a region never has two IFs. This module checks that an IF never has two regions.
module conn_matrix
  import fabric_pkg::*;
#(
  parameter int unsigned NumPrrs = 3
) (
  input  logic    clk_i,
  /// Asynchronous, active low; no region is connected after it.
  input  logic    rst_ni,
  /// The manager's command, a pulse for at most one region. It has no effect if the VM's device is
  /// not the region's client, if that IF is connected to another region, or if the region is
  /// neither in Hold nor in Idle; the manager reads the outcome in PRR_STATUS.
  input  logic    [NumPrrs-1:0] command_i,
  /// 1: connect, 0: disconnect.
  input  logic    connect_i,
  /// The IF to connect; ignored by a disconnection.
  input  vm_t     vm_i,
  input  dev_t    dev_i,
  // regions
  /// State and client of each region, from the registers of its prr_fsm.
  input  prr_state_e [NumPrrs-1:0] state_i,
  input  logic    [NumPrrs-1:0] client_valid_i,
  input  client_t [NumPrrs-1:0] client_i,
  /// Pulse: the client loses the region.
  input  logic    [NumPrrs-1:0] drop_i,
  /// Registered, 0 after a reset: valid in the cycle after command_i or drop_i. A drop wins over a
  /// command.
  output logic    [NumPrrs-1:0] connected_o,
  /// Connected, and not disconnected in this cycle: a job may start.
  output logic    [NumPrrs-1:0] stays_o
);

  logic [NumPrrs-1:0] is_client, accept, free;

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_prr
    logic [NumPrrs-1:0] elsewhere;
    assign is_client[p] = client_valid_i[p] && client_i[p].vm == vm_i && client_i[p].dev == dev_i;
    // Only a client can be connected, so a region is this IF's if the IF is its client.
    for (genvar o = 0; o < int'(NumPrrs); o++) begin : gen_other
      assign elsewhere[o] = o != p && connected_o[o] && is_client[o];
    end
    // No job runs, is stopping or is being saved in these states.
    assign free[p]    = state_i[p] == StHold || state_i[p] == StIdle;
    assign accept[p]  = command_i[p] && connect_i && is_client[p] && elsewhere == '0 && free[p];
    assign stays_o[p] = connected_o[p] && (!command_i[p] || connect_i);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) connected_o[p] <= 1'b0;
      else if (drop_i[p]) connected_o[p] <= 1'b0;
      else if (accept[p]) connected_o[p] <= 1'b1;
      // A running job keeps its IF until the job is stopped.
      else if (command_i[p] && !connect_i && free[p]) connected_o[p] <= 1'b0;
    end
  end

  // A priority decides about allocation only.
  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int p = 0; p < int'(NumPrrs); p++) unused = unused & (|client_i[p].prio);
  end

endmodule
