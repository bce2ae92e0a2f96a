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
  input  logic    rst_ni,
  // the manager's command, one bit for each region
  input  logic    [NumPrrs-1:0] command_i,
  /// 1: connect, 0: disconnect.
  input  logic    connect_i,
  input  vm_t     vm_i,
  input  dev_t    dev_i,
  // regions
  input  prr_state_e [NumPrrs-1:0] state_i,
  input  logic    [NumPrrs-1:0] client_valid_i,
  input  client_t [NumPrrs-1:0] client_i,
  /// Pulse: the client loses the region.
  input  logic    [NumPrrs-1:0] drop_i,
  output logic    [NumPrrs-1:0] connected_o,
  /// Connected, and not disconnected in this cycle: a job may begin.
  output logic    [NumPrrs-1:0] stays_o
);

  logic [NumPrrs-1:0] is_client, accept, free;

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_prr
    logic [NumPrrs-1:0] elsewhere;
    assign is_client[p] = client_valid_i[p] && client_i[p].vm == vm_i && client_i[p].dev == dev_i;
    for (genvar o = 0; o < int'(NumPrrs); o++) begin : gen_other
      assign elsewhere[o] = o != p && connected_o[o] && is_client[o];
    end
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

  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int p = 0; p < int'(NumPrrs); p++) unused = unused & (|client_i[p].prio);
  end

endmodule
