// SPDX-License-Identifier: Apache-2.0
// The Ethernet device: a MAC that all VMs share, with an address and a VLAN for each. Its wire is a
// GMII with one byte in each cycle of tick_i; the pins of an RGMII are the board's. The VMs send
// and receive through the switch outside only: it has to reflect frames (IEEE 802.1Q: reflective
// relay) for VMs of this device to reach each other.
module io_eth
  import fabric_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
#(
  /// VMs that share the device.
  parameter int unsigned NumVms = 4,
  /// Bytes of the send queue, and of them those in it before a frame starts (io_eth_send).
  parameter int unsigned SendBytes = 256,
  parameter int unsigned Threshold = 48,
  /// Bytes of the frame on the wire that are left in the send queue when the next chunk is chosen.
  parameter int unsigned Ahead = 112,
  /// Bytes and frames of the receive buffer (io_eth_buffer).
  parameter int unsigned ReceiveBytes = 4096,
  parameter int unsigned Frames = 32
) (
  input  logic        clk_i,
  /// Asynchronous, active low; both directions are idle and no VM is enabled after it.
  input  logic        rst_ni,
  /// Configuration by the manager (io_eth_table): a pulse sets the row of a VM.
  input  logic        table_write_i,
  input  vm_t         table_vm_i,
  input  io_eth_vm_t  table_row_i,
  /// Counters (io_eth_counters): count_o is the selected one, in the same cycle.
  input  lost_e       count_why_i,
  input  vm_t         count_vm_i,
  output logic [31:0] count_o,
  /// Chunks to send (io_arbiter): contract of io_eth_send.
  input  logic        start_i,
  input  io_chunk_t   chunk_i,
  input  logic        abort_i,
  output logic        done_o,
  output io_result_t  result_o,
  /// Data to send (io_reader), a byte when valid and ready.
  output logic        read_start_o,
  output logic        read_stop_o,
  input  logic        read_valid_i,
  input  logic [7:0]  read_byte_i,
  output logic        read_ready_o,
  input  io_status_e  read_status_i,
  input  logic        read_quiet_i,
  /// Requests to receive, and their completions: contract of io_eth_receive.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  output vm_t         want_vm_o,
  input  logic        head_valid_i,
  input  io_request_t head_i,
  output logic        remove_o,
  output vm_t         remove_vm_o,
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  output logic        busy_o,
  output vm_t         busy_vm_o,
  /// Received data (io_writer), a byte when valid and ready.
  output logic        write_start_o,
  output vm_t         write_vm_o,
  output addr_t       write_addr_o,
  output logic        write_valid_o,
  output logic [7:0]  write_byte_o,
  input  logic        write_ready_i,
  output logic        write_end_o,
  input  logic        write_done_i,
  input  io_status_e  write_status_i,
  /// Wire: a byte passes in each direction in the cycles of its tick. At 1 Gbit/s and a clock of
  /// 125 MHz a tick is up in every cycle.
  input  logic        send_tick_i,
  output gmii_t       gmii_o,
  input  logic        receive_tick_i,
  input  gmii_t       gmii_i
);

  vm_t send_vm, receive_vm, lost_vm;
  io_eth_vm_t send_row, receive_row;
  logic [NumVms-1:0] enabled, arrived_mask;
  logic forged, wire_event, arrived, lost, lost_ready;
  wire_e wire_why;
  lost_e arrived_why, lost_why;

  io_eth_table #(.NumVms(NumVms)) i_table (
    .clk_i, .rst_ni, .write_i(table_write_i), .write_vm_i(table_vm_i), .write_row_i(table_row_i),
    .send_vm_i(send_vm), .send_row_o(send_row), .receive_vm_i(receive_vm),
    .receive_row_o(receive_row), .enabled_o(enabled)
  );

  io_eth_counters #(.NumVms(NumVms)) i_counters (
    .clk_i, .rst_ni, .wire_i(wire_event), .wire_why_i(wire_why), .arrived_i(arrived),
    .arrived_mask_i(arrived_mask), .arrived_why_i(arrived_why), .forged_i(forged),
    .forged_vm_i(send_vm), .lost_i(lost), .lost_vm_i(lost_vm), .lost_why_i(lost_why),
    .lost_ready_o(lost_ready), .read_why_i(count_why_i), .read_vm_i(count_vm_i), .count_o
  );

  // ---- Send ----
  logic send_valid, send_last, send_ready, send_abort, starved, begun;
  logic [7:0] send_byte;

  io_eth_send #(.Bytes(SendBytes), .Threshold(Threshold), .Ahead(Ahead)) i_send (
    .clk_i, .rst_ni, .start_i, .chunk_i, .abort_i, .done_o, .result_o, .vm_o(send_vm),
    .row_i(send_row), .forged_o(forged), .read_start_o, .read_stop_o, .read_valid_i, .read_byte_i,
    .read_ready_o, .read_status_i, .read_quiet_i, .valid_o(send_valid), .byte_o(send_byte),
    .last_o(send_last), .ready_i(send_ready), .abort_o(send_abort), .starved_i(starved),
    .begun_i(begun)
  );

  io_eth_mac_tx i_transmit (
    .clk_i, .rst_ni, .tick_i(send_tick_i), .valid_i(send_valid), .byte_i(send_byte),
    .last_i(send_last), .ready_o(send_ready), .abort_i(send_abort), .starved_o(starved),
    .begun_o(begun), .gmii_o
  );

  // ---- Receive ----
  logic frame_valid, frame_whole, frame_remove, reads, frame_byte_valid, frame_over, frame_ready;
  logic [7:0] frame_byte;
  logic [$clog2(Frames):0] number;
  io_eth_frame_t frame;

  io_eth_ingress #(.NumVms(NumVms), .Bytes(ReceiveBytes), .Frames(Frames)) i_ingress (
    .clk_i, .rst_ni, .tick_i(receive_tick_i), .gmii_i, .vm_o(receive_vm), .row_i(receive_row),
    .wire_o(wire_event), .wire_why_o(wire_why), .lost_o(arrived), .lost_mask_o(arrived_mask),
    .lost_why_o(arrived_why), .frame_valid_o(frame_valid), .frame_o(frame), .whole_o(frame_whole),
    .number_o(number), .remove_i(frame_remove), .read_i(reads), .valid_o(frame_byte_valid),
    .byte_o(frame_byte), .over_o(frame_over), .ready_i(frame_ready)
  );

  io_eth_receive #(.NumVms(NumVms), .Frames(Frames)) i_receive (
    .clk_i, .rst_ni, .enabled_i(enabled), .flush_i, .flush_vm_i, .frame_valid_i(frame_valid),
    .frame_i(frame), .whole_i(frame_whole), .number_i(number), .frame_remove_o(frame_remove),
    .read_o(reads), .valid_i(frame_byte_valid), .byte_i(frame_byte), .over_i(frame_over),
    .ready_o(frame_ready), .want_vm_o, .head_valid_i, .head_i, .remove_o, .remove_vm_o, .complete_o,
    .completion_o, .complete_ready_i, .busy_o, .busy_vm_o, .lost_o(lost), .lost_vm_o(lost_vm),
    .lost_why_o(lost_why), .lost_ready_i(lost_ready), .write_start_o, .write_vm_o, .write_addr_o,
    .write_valid_o, .write_byte_o, .write_ready_i, .write_end_o, .write_done_i, .write_status_i
  );

endmodule
