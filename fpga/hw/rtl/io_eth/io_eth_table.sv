// SPDX-License-Identifier: Apache-2.0
// What each VM may send and receive, for io_eth. The rows are in distributed RAM: the same in
// registers, with a comparator for each VM, takes a thousand registers for 16 VMs. No VM is enabled
// after reset.
module io_eth_table
  import fabric_pkg::*;
  import io_eth_pkg::*;
#(
  /// VMs 0 .. NumVms - 1 have rows.
  parameter int unsigned NumVms = 4
) (
  input  logic    clk_i,
  /// Asynchronous, active low; clears the bit `enabled` of all rows. The other fields are in RAM
  /// and keep their values, which mean nothing until the row is written again.
  input  logic    rst_ni,
  /// Pulse: sets a VM's row as a whole, so that no frame sees half of it.
  input  logic    write_i,
  input  vm_t     write_vm_i,
  input  io_eth_vm_t write_row_i,
  // read in the same cycle
  input  vm_t     send_vm_i,
  output io_eth_vm_t send_row_o,
  input  vm_t     receive_vm_i,
  output io_eth_vm_t receive_row_o,
  /// Registers: the VMs that may send and receive.
  output logic [NumVms-1:0] enabled_o
);

  localparam int unsigned Width = $bits(io_eth_vm_t) - 1;

  logic [Width-1:0] rows [16];
  logic send_enabled, receive_enabled;

  always_ff @(posedge clk_i) begin
    if (write_i) rows[write_vm_i] <= write_row_i[Width-1:0];
  end

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_enabled
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) enabled_o[v] <= 1'b0;
      else if (write_i && write_vm_i == vm_t'(v)) enabled_o[v] <= write_row_i.enabled;
    end
  end

  always_comb begin
    send_enabled    = 1'b0;
    receive_enabled = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (send_vm_i == vm_t'(v)) send_enabled = enabled_o[v];
      if (receive_vm_i == vm_t'(v)) receive_enabled = enabled_o[v];
    end
  end
  assign send_row_o    = {send_enabled, rows[send_vm_i]};
  assign receive_row_o = {receive_enabled, rows[receive_vm_i]};

endmodule
