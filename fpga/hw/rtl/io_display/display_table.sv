// SPDX-License-Identifier: Apache-2.0
// The rectangle and the framebuffer of each VM, in distributed RAM. After reset no rectangle is
// enabled, and no framebuffer on. The base and the stride of a framebuffer are 0 until they are
// written after a reset or a flush.
module display_table
  import fabric_pkg::*;
  import display_pkg::*;
#(
  /// VMs 0 .. NumVms - 1 have rows.
  parameter int unsigned NumVms = 4
) (
  input  logic         clk_i,
  /// Asynchronous, active low; it clears the bits that say which values are valid, and not the
  /// memories: coordinates of a rectangle stay, but the rectangle is not enabled.
  input  logic         rst_ni,
  /// The manager: a pulse sets a rectangle, which is visible from the next cycle on.
  input  logic         rect_write_i,
  input  vm_t          rect_vm_i,
  input  rect_t        rect_i,
  /// Pulse: turns the VM's framebuffer off, and clears its base and stride. A write of a
  /// framebuffer in the same cycle may be lost.
  input  logic         flush_i,
  input  vm_t          flush_vm_i,
  /// A framebuffer's registers: pulses, for vm_i; framebuffer_o is read in the same cycle.
  input  fb_select_t   write_i,
  input  vm_t          vm_i,
  input  framebuffer_t framebuffer_i,
  output framebuffer_t framebuffer_o,
  /// Fetch, read in the same cycle.
  input  vm_t          fetch_vm_i,
  output rect_t        fetch_rect_o,
  output framebuffer_t fetch_framebuffer_o
);

  // In distributed RAM without a reset; the bits below say which values are valid.
  logic [63:0] rects [16];
  logic [37:0] bases [16];
  logic [12:0] strides [16];
  logic [NumVms-1:0] enabled_q, on_q, base_set_q, stride_set_q;
  vm_t changed_vm;

  always_ff @(posedge clk_i) begin
    if (rect_write_i) rects[rect_vm_i] <= rect_i[$bits(rect_t)-1:1];
    if (write_i.base) bases[vm_i] <= framebuffer_i.base[AddrWidth-1:3];
    if (write_i.stride) strides[vm_i] <= framebuffer_i.stride[15:3];
  end

  // One comparison for each VM, at the price that a write is lost in the cycle of a flush.
  assign changed_vm = flush_i ? flush_vm_i : vm_i;

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        enabled_q[v]    <= 1'b0;
        on_q[v]         <= 1'b0;
        base_set_q[v]   <= 1'b0;
        stride_set_q[v] <= 1'b0;
      end else begin
        if (rect_write_i && rect_vm_i == vm_t'(v)) enabled_q[v] <= rect_i.enabled;
        if (changed_vm == vm_t'(v)) begin
          if (flush_i || write_i.on) on_q[v] <= framebuffer_i.on && !flush_i;
          if (flush_i || write_i.base) base_set_q[v] <= !flush_i;
          if (flush_i || write_i.stride) stride_set_q[v] <= !flush_i;
        end
      end
    end
  end

  // An index into 16 bits is a quarter of the comparisons with each VM.
  logic [15:0] all_enabled, all_on, all_base_set, all_stride_set;
  assign all_enabled    = 16'(enabled_q);
  assign all_on         = 16'(on_q);
  assign all_base_set   = 16'(base_set_q);
  assign all_stride_set = 16'(stride_set_q);

  assign framebuffer_o = '{
    base: all_base_set[vm_i] ? {bases[vm_i], 3'b0} : '0,
    stride: all_stride_set[vm_i] ? {strides[vm_i], 3'b0} : '0,
    on: all_on[vm_i]
  };
  assign fetch_rect_o = {rects[fetch_vm_i], all_enabled[fetch_vm_i]};
  assign fetch_framebuffer_o = '{
    base: all_base_set[fetch_vm_i] ? {bases[fetch_vm_i], 3'b0} : '0,
    stride: all_stride_set[fetch_vm_i] ? {strides[fetch_vm_i], 3'b0} : '0,
    on: all_on[fetch_vm_i]
  };

  logic unused;
  assign unused = &{1'b0, framebuffer_i.base[2:0], framebuffer_i.stride[2:0]};

endmodule
