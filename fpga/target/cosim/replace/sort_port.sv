// SPDX-License-Identifier: Apache-2.0
// fpga/hw/rtl/sorter/sort_port.sv as a Verilated class of its own, which C++ (model.cc) evaluates
// only while there is a command: between commands neither its state nor its outputs change.
// Otherwise Verilator evaluates the sorter, a fifth of the fabric's logic, in every cycle.
module sort_port
  import fabric_pkg::*;
#(
  /// As in the class: tools/mk/cosim.mk gives both the same value.
  parameter int unsigned Depth = 16,
  parameter int unsigned Index = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        command_i,
  input  logic [2:0]  op_i,
  input  sort_key_t   key_i,
  input  sort_order_t order_i,
  input  sort_value_t value_i,
  output logic [1:0]  status_o,
  output logic        waiting_o,
  output logic [8:0]  count_o,
  output logic        head_valid_o,
  output sort_key_t   head_key_o,
  output sort_value_t head_value_o
);

  /// One clock edge of the sorter; the outputs are those after the edge. `inputs` has {op [2:0],
  /// command [3], rst_n [4], the sorter's number [31:5]}, `state` {status [1:0], waiting [2], head
  /// valid [3], count [12:4], head value [28:13]}.
  import "DPI-C" function void cosim_sorter_clock(
    input int unsigned inputs, input longint unsigned key, input int unsigned order,
        input int unsigned value,
    output int unsigned state, output longint unsigned head_key
  );

  logic reset_q;    // the class has not had its reset yet

  always_ff @(posedge clk_i or negedge rst_ni) begin
    automatic int unsigned state;
    automatic longint unsigned key;
    state = 0;
    key   = 0;
    if (!rst_ni) begin
      reset_q      <= 1'b1;
      waiting_o    <= 1'b0;
      status_o     <= '0;
      head_valid_o <= 1'b0;
      count_o      <= '0;
      head_value_o <= '1;
      head_key_o   <= '1;
    end else if (reset_q || command_i || waiting_o) begin
      cosim_sorter_clock({27'(Index), !reset_q, command_i, op_i}, key_i, order_i, 32'(value_i),
                         state, key);
      reset_q      <= 1'b0;
      waiting_o    <= state[2];
      status_o     <= state[1:0];
      head_valid_o <= state[3];
      count_o      <= state[12:4];
      head_value_o <= state[28:13];
      head_key_o   <= key;
    end
  end

endmodule
