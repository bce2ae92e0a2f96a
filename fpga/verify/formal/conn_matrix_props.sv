// SPDX-License-Identifier: Apache-2.0
// Proves the connection matrix with three regions: no IF is connected to two regions, only a
// region's client is connected to it, and a running job keeps its connection, also one that begins
// now. Assumption about the state machines, proven by prr_fsm_props: a change of client comes with
// a drop.
module conn_matrix_props
  import fabric_pkg::*;
#(
  localparam int unsigned NumPrrs = 3
) (
  input logic clk_i,
  input logic [NumPrrs-1:0] command_i,
  input logic connect_i,
  input vm_t vm_i,
  input dev_t dev_i,
  input prr_state_e [NumPrrs-1:0] state_i,
  input logic [NumPrrs-1:0] valid_i,
  input client_t [NumPrrs-1:0] client_i,
  input logic [NumPrrs-1:0] drop_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // A client changes only with a drop.
  logic [NumPrrs-1:0] valid_q, connected, stays, was_connected, was_staying, was_busy, was_drop;
  client_t [NumPrrs-1:0] client_q;
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < int'(NumPrrs); p++) begin
      if (!rst_n || drop_i[p]) begin
        valid_q[p]  <= valid_i[p];
        client_q[p] <= client_i[p];
      end
      was_busy[p] <= !(state_i[p] == StHold || state_i[p] == StIdle);
    end
    was_connected <= connected;
    was_staying   <= stays;
    was_drop      <= drop_i;
  end

  conn_matrix #(.NumPrrs(NumPrrs)) dut (
    .clk_i, .rst_ni(rst_n), .command_i($onehot0(command_i) ? command_i : '0), .connect_i, .vm_i,
    .dev_i, .state_i, .client_valid_i(valid_q), .client_i(client_q), .drop_i(rst_n ? drop_i : '1),
    .connected_o(connected), .stays_o(stays)
  );

  logic past = 1'b0;
  always_ff @(posedge clk_i) past <= rst_n;
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_prr
    always_ff @(posedge clk_i) begin
      if (rst_n) begin
        if (connected[p]) assert (valid_q[p]);
        for (int o = 0; o < p; o++) begin
          assert (!(connected[p] && connected[o] && client_q[p].vm == client_q[o].vm
                    && client_q[p].dev == client_q[o].dev));
        end
        if (past && was_connected[p] && was_busy[p] && !was_drop[p]) assert (connected[p]);
        if (past && was_staying[p] && !was_drop[p]) assert (connected[p]);
        assert (!stays[p] || connected[p]);
        if (connected[p] && !(|command_i)) assert (stays[p]);
      end
      cover (rst_n && connected == '1);
    end
  end
endmodule
