/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a disk server (docs/networking.md), by which a VM serves disks of other VMs: gives one
 * request after the other. */
#ifndef GUEST_DISK_SERVER_H
#define GUEST_DISK_SERVER_H

#include "disk_abi.h"
#include "virtio.h"

/* a system has at most 31 disks for a server; with fewer buffers than disks, one could wait for
 * ever */
#define DISK_SERVER_BUFFERS 32U

struct disk_server_buffer {
    struct disk_request request;
    uint8_t data[DISK_PIECE];
};

struct disk_server {
    struct virtio_device device;
    struct virtqueue requests, answers;
    struct disk_server_buffer buffers[DISK_SERVER_BUFFERS];
    struct disk_answer answer;
    int current; /* the buffer of the request that is being served, or -1 */
};

/** Opens the VM's disk server. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int disk_server_open(struct disk_server *server, struct pci_bus *bus);

/**
 * The next request, without waiting: fills *request and returns its data, which is written for a
 * read, and read for a write. NULL: there is none. Requests of a disk come in the order in which
 * they have to be served. Not before the one before is answered.
 */
uint8_t *disk_server_next(struct disk_server *server, struct disk_request *request);

/** Answers the request: VIRTIO_OK or VIRTIO_BROKEN. `status` is DISK_OK or DISK_ERROR. A write that
 * is answered has reached the device. */
int disk_server_answer(struct disk_server *server, const struct disk_request *request,
                       uint32_t status);

#endif
