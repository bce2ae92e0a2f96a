// SPDX-License-Identifier: Apache-2.0
// The window of each VM onto the flash, in sectors of 64 KiB; it is empty until it is written. It
// serves flash_unit, and owns the table.
module flash_windows
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; all windows are empty after it, although the rows in RAM keep their
  /// values.
  input  logic       rst_ni,
  /// Pulse: sets the VM's window, visible in the next cycle: its first sector and their number. The
  /// manager keeps both within the flash.
  input  logic       write_i,
  input  vm_t        write_vm_i,
  input  logic [7:0] write_first_i,
  input  logic [8:0] write_number_i,
  /// Of a chunk, read in the same cycle; without a window the number is 0, whatever first_o is.
  input  vm_t        vm_i,
  output logic [7:0] first_o,
  output logic [8:0] number_o,
  /// Of a page, read in the same cycle.
  input  vm_t        size_vm_i,
  output logic [31:0] size_bytes_o
);

  logic [16:0] rows [16];
  logic [NumVms-1:0] set_q;
  logic set, size_set;

  always_ff @(posedge clk_i) if (write_i) rows[write_vm_i] <= {write_first_i, write_number_i};
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_set
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) set_q[v] <= 1'b0;
      else if (write_i && write_vm_i == vm_t'(v)) set_q[v] <= 1'b1;
    end
  end

  always_comb begin
    set      = 1'b0;
    size_set = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (vm_i == vm_t'(v)) set = set_q[v];
      if (size_vm_i == vm_t'(v)) size_set = set_q[v];
    end
  end
  assign first_o      = rows[vm_i][16:9];
  assign number_o     = set ? rows[vm_i][8:0] : '0;
  assign size_bytes_o = size_set ? {7'b0, rows[size_vm_i][8:0], 16'b0} : '0;

endmodule
