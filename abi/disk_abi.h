/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a disk server (PCI function of model "disk-server") gets requests of the disks that it
 * serves, and answers them: docs/networking.md. All fields are little-endian.
 *
 * Queue 0: the server offers buffers that the device writes, each of a struct disk_request and
 * DISK_PIECE bytes behind it. The device returns one for each request: the data of a write is
 * behind the request. Queue 1: the server gives answers, buffers that the device reads: a struct
 * disk_answer and, for a read that succeeded, its data.
 */
#ifndef DISK_ABI_H
#define DISK_ABI_H

#include <stdint.h>

#define DISK_SERVER_TYPE 63U /* device type of virtio, which the specification has not assigned */
#define DISK_SERVER_REQUESTS 0U
#define DISK_SERVER_ANSWERS 1U
#define DISK_PIECE 0x8000U /* bytes of data in a request, at most */

/* As in a request of virtio-blk. */
#define DISK_READ 0U
#define DISK_WRITE 1U
#define DISK_FLUSH 4U /* of everything that was written before */

#define DISK_OK 0U
#define DISK_ERROR 1U

struct disk_request {
    uint32_t disk;   /* with `number`: identifies the request */
    uint32_t number; /* counts the requests of a disk */
    uint32_t type;   /* DISK_READ, DISK_WRITE, DISK_FLUSH */
    uint32_t bytes;  /* of data, a multiple of 512; of a flush 0 */
    /* of 512 bytes, of the server's own disk; of a flush the first one of the disk's part */
    uint64_t sector;
    uint64_t unused;
};

struct disk_answer {
    uint32_t disk, number; /* of the request */
    uint32_t status;       /* DISK_OK, DISK_ERROR */
    uint32_t unused;
};

#endif
