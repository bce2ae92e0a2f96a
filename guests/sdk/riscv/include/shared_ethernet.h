/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the shared Ethernet device. Frames begin with the destination's address and end before
 * the FCS; the device pads them, and adds and removes the tag of the VM's VLAN.
 */
#ifndef GUEST_SHARED_ETHERNET_H
#define GUEST_SHARED_ETHERNET_H

#include "shared.h"

#define ETHERNET_ADDRESS 6U /* bytes */
#define ETHERNET_HEADER 14U
#define ETHERNET_FRAME 1514U /* bytes of the longest frame */

struct ethernet {
    struct shared_channel send, receive;
    uint8_t mac[ETHERNET_ADDRESS]; /* the VM's address */
};

/** Opens the VM's device. SHARED_OK or SHARED_NO_DEVICE. */
int ethernet_open(struct ethernet *eth, const void *fdt);

/**
 * Sends a frame of ETHERNET_HEADER to ETHERNET_FRAME bytes: SHARED_OK, SHARED_INVALID for another
 * length, SHARED_FULL. shared_take(&eth->send, ...) tells when the frame's memory may be used
 * again, with its tag. A frame with another source than the VM's address, with a VLAN tag, or for
 * the link itself (PAUSE, spanning tree) ends with SHARED_FORBIDDEN.
 */
int ethernet_submit(struct ethernet *eth, const void *frame, size_t bytes, uint8_t tag);

/** The same, and waits until the frame's memory may be used again. Also returns a status, or
 * SHARED_BUSY while other frames wait. */
int ethernet_send(struct ethernet *eth, const void *frame, size_t bytes);

/**
 * Gives a buffer to the device, for one frame: SHARED_OK, SHARED_INVALID for less than 1 or more
 * than 65535 bytes, SHARED_FULL. Frames that come while no buffer is there are lost, and a frame
 * that is longer than its buffer is lost with status SHARED_BAD; a buffer of ETHERNET_FRAME bytes
 * is always long enough. shared_take(&eth->receive, ...) tells the frame's length in `bytes`, and
 * in `tag` which buffer has it.
 */
int ethernet_post(struct ethernet *eth, void *buffer, size_t bytes, uint8_t tag);

#endif
