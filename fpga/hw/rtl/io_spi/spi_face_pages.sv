// SPDX-License-Identifier: Apache-2.0
// The page of the flash that each VM is about to program, from the face's bytes to the flash's
// driver. It owns the memory of these pages, which a reset does not clear.
module spi_face_pages
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low. Before the first start_i valid_o means nothing.
  input  logic       rst_ni,
  /// The VMs' bytes: one is written in each cycle with write_i.
  input  logic       write_i,
  input  vm_t        write_vm_i,
  input  logic [7:0] write_index_i,
  input  logic [7:0] write_byte_i,
  // the driver
  /// Pulse: bytes of this VM's page follow, from this one on.
  input  logic       start_i,
  input  vm_t        vm_i,
  input  logic [7:0] index_i,
  /// A byte stays until ready_i; the next one is valid two cycles later. The index wraps around in
  /// the page.
  output logic       valid_o,
  output logic [7:0] byte_o,
  input  logic       ready_i
);

  localparam int unsigned VmBits = NumVms > 1 ? $clog2(NumVms) : 1;

  logic [7:0] bytes [256 << VmBits];
  logic [VmBits-1:0] vm_q;
  logic [7:0] index_q;

  always_ff @(posedge clk_i) begin
    if (write_i) bytes[{VmBits'(write_vm_i), write_index_i}] <= write_byte_i;
    byte_o <= bytes[{vm_q, index_q}];
  end

  // The memory delivers a byte in the cycle after its index.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      vm_q    <= '0;
      index_q <= '0;
      valid_o <= 1'b0;
    end else begin
      valid_o <= !start_i && !(valid_o && ready_i);
      if (start_i) {vm_q, index_q} <= {VmBits'(vm_i), index_i};
      else if (valid_o && ready_i) index_q <= index_q + 1'b1;
    end
  end

  logic unused;
  assign unused = &{1'b0, write_vm_i, vm_i};

endmodule
