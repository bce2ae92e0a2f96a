// SPDX-License-Identifier: Apache-2.0
// From the wire to the frame buffer: only good frames that are for a VM stay in it. The first one
// can be read while it arrives, as soon as a VM is known that it is for. It connects receiver,
// filter and buffer for io_eth, and owns the decision what happens to a frame at its end.
module io_eth_ingress
  import fabric_pkg::*;
  import io_eth_pkg::*;
#(
  /// As of io_eth: VMs, bytes and frames of the buffer.
  parameter int unsigned NumVms = 4,
  parameter int unsigned Bytes = 4096,
  parameter int unsigned Frames = 32
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the buffer is empty, and a frame on the wire is skipped after it.
  input  logic       rst_ni,
  /// Wire: gmii_i is a byte in each cycle of tick_i.
  input  logic       tick_i,
  input  gmii_t      gmii_i,
  /// Rows (io_eth_table): row_i is that of vm_o in the same cycle.
  output vm_t        vm_o,
  input  io_eth_vm_t row_i,
  /// Events (io_eth_counters), pulses at the end of a frame: wire_o, it is bad or for none of the
  /// VMs; lost_o, it is lost for these VMs.
  output logic       wire_o,
  output wire_e      wire_why_o,
  output logic       lost_o,
  output logic [NumVms-1:0] lost_mask_o,
  output lost_e      lost_why_o,
  // the first frame (io_eth_buffer)
  output logic       frame_valid_o,
  output io_eth_frame_t frame_o,
  output logic       whole_o,
  output logic [$clog2(Frames):0] number_o,
  input  logic       remove_i,
  input  logic       read_i,
  output logic       valid_o,
  output logic [7:0] byte_o,
  output logic       over_o,
  input  logic       ready_i
);

  logic [NumVms-1:0] mask, missed;
  logic valid, over, good, keep, full, has_tag, group;
  logic [7:0] data;
  wire_e why;

  io_eth_mac_rx i_receive (
    .clk_i, .rst_ni, .tick_i, .gmii_i, .valid_o(valid), .byte_o(data), .end_o(over), .wire_o(why)
  );

  io_eth_filter #(.NumVms(NumVms)) i_filter (
    .clk_i, .rst_ni, .valid_i(valid), .byte_i(data), .end_i(over), .vm_o, .row_i, .mask_o(mask),
    .missed_o(missed), .tagged_o(has_tag), .group_o(group)
  );

  assign good = over && why == WireGood;
  assign keep = good && mask != '0;

  assign wire_o      = over && !keep;
  assign wire_why_o  = why == WireGood ? WireNobody : why;
  assign lost_o      = good && (mask == '0 ? missed != '0 : full);
  assign lost_mask_o = mask == '0 ? missed : mask;
  assign lost_why_o  = mask == '0 ? LostVlan : LostOverflow;

  io_eth_buffer #(.Bytes(Bytes), .Frames(Frames)) i_buffer (
    .clk_i, .rst_ni, .valid_i(valid), .byte_i(data), .end_i(over), .keep_i(keep),
    .tagged_i(has_tag), .group_i(group), .mask_i(16'(mask)), .full_o(full), .frame_valid_o,
    .frame_o, .whole_o, .number_o, .remove_i, .read_i, .valid_o, .byte_o, .over_o, .ready_i
  );

endmodule
