/* SPDX-License-Identifier: Apache-2.0 */
/* What the front end of a disk (blk.c) and its server (server.c) share: the disk and its request in
 * progress, which the lock of the disk's queue guards. server.c has the order of locks. */
#ifndef BLK_H
#define BLK_H

#include "virtio.h"

#define BLK_SECTOR 512U

#define BLK_FEATURE_FLUSH (UINT64_C(1) << 9)

#define BLK_READ 0U
#define BLK_WRITE 1U
#define BLK_FLUSH 4U
#define BLK_GET_ID 8U
#define BLK_OK 0U
#define BLK_IOERR 1U
#define BLK_UNSUPPORTED 2U

/* struct virtio_blk_req (section 5.2.6), little-endian. */
struct blk_request {
    uint32_t type, reserved;
    uint64_t sector; /* of 512 bytes */
};

/* The piece of a request that the server gets next, or has. */
enum blk_piece {
    BLK_NO_PIECE,
    BLK_MEASURED, /* `bytes` is its size */
    BLK_FILLING,  /* a buffer of the server has its header, and what is copied of its data */
    BLK_SERVED,   /* the server has it */
};

struct blk_disk {
    /* Constant after boot, down to `size`. */
    char *content;                /* of a disk in RAM, or NULL */
    struct virtio_device *server; /* of another disk */
    uint64_t size;                /* bytes */
    /* Guarded by the lock of the queue: */
    bool busy; /* with a request, which is still in the queue */
    uint8_t status;
    struct blk_request request;
    uint64_t at;      /* offset of the next byte */
    uint32_t written; /* bytes, to the guest's memory */
    struct virtio_chain rest;
    /* Of a disk with a server, guarded by the same lock: */
    /* the request has a piece that the server gets or has, or its next piece is not known yet */
    bool forwards;
    enum blk_piece piece;
    bool flushes;               /* the piece is a flush */
    uint32_t number;            /* of the piece */
    uint32_t bytes, left;       /* of the piece, and of its data that is to be copied */
    bool held;                  /* `buffer` is a buffer of the server, taken from its queue */
    uint32_t generation;        /* of that queue */
    struct virtio_chain buffer; /* at its start */
    struct virtio_chain room;   /* its rest */
};

/* A step of a request of a disk with a server. With the lock of the disk's queue; takes that of the
 * server's queue. */
struct virtio_step blk_forward(struct virtio_device *dev, struct blk_disk *disk);

/* Whether blk_forward() does the disk's next step. */
static inline bool blk_is_forwarded(const struct blk_disk *disk)
{
    return disk->forwards || disk->piece == BLK_SERVED;
}

#endif
