// SPDX-License-Identifier: Apache-2.0
// Definitions that the blocks of the Ethernet device share: the wire, a VM's address, and why
// frames are lost.
package io_eth_pkg;

  typedef logic [47:0] mac_t;  // the byte that is sent first in the high bits
  typedef logic [11:0] vlan_t;

  // One direction of a GMII: what passes in a tick.
  typedef struct packed {
    // A byte of a frame, its preamble included; error: the byte is not valid, or a receiver must
    // discard the frame.
    logic       enable;
    logic       error;
    logic [7:0] data;
  } gmii_t;

  // Lengths in bytes, without preamble and FCS. A VM's frames have no VLAN tag.
  localparam int unsigned HeaderBytes = 14;
  localparam int unsigned TagBytes = 4;
  localparam int unsigned MinBytes = 60;
  localparam int unsigned MaxBytes = 1514;
  localparam logic [15:0] TypeTag = 16'h8100, TypeServiceTag = 16'h88A8, TypeControl = 16'h8808;

  // What a VM may send and receive.
  typedef struct packed {
    // 0: the VM neither sends nor receives.
    logic  enabled;
    logic  multicast;  // receives the frames to all group addresses
    logic  in_vlan;    // belongs to a VLAN; otherwise its frames have no tag on the wire
    vlan_t vlan;
    mac_t  mac;
  } io_eth_vm_t;

  // Operations of a request. They differ, so that a request in the wrong ring is refused.
  localparam logic [7:0] OpSend = 8'd0, OpReceive = 8'd1;

  // Why a VM has lost a frame.
  typedef enum logic [2:0] {
    // sent: a foreign source address, a tag, or a frame that controls the link
    LostForged    = 3'd0,
    LostVlan      = 3'd1,  // received: for its address, but in another VLAN
    LostOverflow  = 3'd2,  // received: the frame buffer was full
    LostNoRequest = 3'd3,  // received: the VM had posted no request
    // received: the VM's request was wrong, or its buffer too short or not writable
    LostRequest   = 3'd4,
    LostWire      = 3'd7   // not a VM's: the row of the counters that holds those of wire_e
  } lost_e;

  // What has arrived on the wire.
  typedef enum logic [2:0] {
    WireGood    = 3'd0,
    WireNoStart = 3'd1,  // no start of frame
    // Shorter than 60 bytes, or longer than 1514 (1518 with a tag), without FCS.
    WireRunt    = 3'd2,
    WireLong    = 3'd3,
    WireFcs     = 3'd4,  // a wrong FCS, or the PHY has reported an error
    WireNobody  = 3'd5   // a good frame for none of the VMs
  } wire_e;

  // A received frame in the buffer, or what has arrived of it.
  typedef struct packed {
    logic [10:0] bytes;   // with the tag
    logic        has_tag;
    logic [15:0] mask;    // VMs that it is for
  } io_eth_frame_t;

endpackage
