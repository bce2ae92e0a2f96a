/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks of which a VM is the server (abi/disk_abi.h). A request is cut into pieces, of which the
 * server has one at a time of each disk. Which part of the server's disk a piece is in follows from
 * the system file, not from the server. The data is copied in steps, between the memory of both
 * VMs: that of a write in the front end's notification, that of a read in the server's, which also
 * begins the disk's next piece.
 *
 * A server that resets its device, or whose VM stops, has lost its pieces: their requests are done
 * again from the start when it offers buffers again. A request whose driver has reset its disk is
 * awaited before the disk's next one, so none overtakes it.
 *
 * Locks, outer first: the server's queue of answers, the disk's queue, the server's queue of
 * buffers.
 */
#include "blk.h"
#include "disk_abi.h"
#include "lib.h"

#define CLASS_OTHER 0xff0000U
#define MEASURED 4U       /* most buffers of a piece, but for the last sector */
#define STEPS_AFTER 1024U /* of the disk's queue after an answer: more than a piece needs */

/* The answer that is being taken. */
struct server {
    /* Guarded by the lock of the queue of answers: */
    bool busy;                /* with an answer, which is still in the queue */
    bool taken;               /* the disk has the answer */
    uint32_t steps;           /* left of STEPS_AFTER */
    struct virtio_device *to; /* the disk */
    struct disk_answer answer;
    struct virtio_chain rest; /* of the chain that has the answer */
};

/* by number of the function; owner: this file */
static struct server servers[VIRTIO_MAX_FUNCTIONS];

/* --- sending a piece to the server --- */

static struct virtio_step step_again(void)
{
    return (struct virtio_step){.wait = false};
}

static struct virtio_step broken(struct virtio_device *dev)
{
    return (struct virtio_step){.broken = virtio_wrong(dev)};
}

/* The request ends with this status, without a further piece. */
static struct virtio_step end_pieces(struct blk_disk *disk, uint8_t status)
{
    disk->status = status;
    disk->forwards = false;
    disk->piece = BLK_NO_PIECE;
    return step_again();
}

/* The server has lost the piece and the buffer: the request begins again. */
static struct virtio_step begin_again(struct blk_disk *disk, const struct virtq *q)
{
    disk->generation = q->generation;
    disk->held = false;
    disk->piece = BLK_NO_PIECE;
    disk->forwards = false;
    disk->busy = false;
    return step_again();
}

/* The bytes of data in the next buffers of the request, rounded up to whole sectors. Only a
 * measure: the buffers are checked again when they are used. */
static uint32_t measure(const struct blk_disk *disk)
{
    struct virtio_chain c = disk->rest;
    uint64_t sum = 0;

    for (unsigned i = 0; i < MEASURED && sum < DISK_PIECE && virtio_chain_span(&c) == VIRTIO_SOME &&
                         c.writable == (disk->request.type == BLK_READ);
         i++) {
        sum += c.room - (c.writable && c.next == CHAIN_END ? 1U : 0);
        virtio_chain_advance(&c, c.room);
    }
    sum = (sum + BLK_SECTOR - 1U) / BLK_SECTOR * BLK_SECTOR;
    return sum < DISK_PIECE ? (uint32_t)sum : DISK_PIECE;
}

/* A write whose driver has not accepted flushes ends with one, as it must be stable then
 * (section 5.2.6.2). */
static struct virtio_step measure_piece(const struct virtio_device *dev, struct blk_disk *disk)
{
    bool stable = disk->request.type == BLK_WRITE && (dev->features & BLK_FEATURE_FLUSH) == 0;

    disk->bytes = disk->request.type == BLK_FLUSH ? 0 : measure(disk);
    disk->flushes = disk->bytes == 0 && (disk->request.type == BLK_FLUSH || stable);
    if (disk->bytes == 0 && !disk->flushes) {
        return end_pieces(disk, BLK_OK);
    }
    if (disk->bytes > disk->size - disk->at) {
        return end_pieces(disk, BLK_IOERR);
    }
    disk->piece = BLK_MEASURED;
    return step_again();
}

/* Takes a buffer out of the server's queue, unless the disk has one. VIRTIO_NONE: there is none. */
static enum virtio_found take_buffer(struct blk_disk *disk, struct virtq *q)
{
    enum virtio_found found;

    if (disk->held) {
        return VIRTIO_SOME;
    }
    if (!q->ready || (virtq_waiting(q) == 0 && virtq_enable_notify(disk->server, q))) {
        return VIRTIO_NONE;
    }
    found = virtq_first(disk->server, q, VIRTIO_QUEUE_SIZE, &disk->buffer);
    if (found == VIRTIO_SOME) {
        q->next++;
        disk->held = true;
    }
    return found;
}

static struct virtio_step begin_piece(const struct virtio_device *dev, struct blk_disk *disk,
                                      struct virtq *q)
{
    enum virtio_found found = take_buffer(disk, q);
    const struct disk_request request = {
        .disk = virtio_number(dev),
        .number = disk->number + 1U,
        .type = disk->flushes ? DISK_FLUSH : disk->request.type,
        .bytes = disk->bytes,
        .sector = (dev->config->disk + (disk->flushes ? 0 : disk->at)) / BLK_SECTOR};

    if (found == VIRTIO_NONE) {
        return (struct virtio_step){.wait = true};
    }
    disk->room = disk->buffer;
    if (found != VIRTIO_SOME ||
        virtio_chain_write(&disk->room, &request, sizeof(request)) != VIRTIO_SOME) {
        return broken(disk->server);
    }
    disk->number++;
    disk->left = request.type == DISK_WRITE ? request.bytes : 0;
    disk->piece = BLK_FILLING;
    return step_again();
}

static struct virtio_step send_piece(struct blk_disk *disk, struct virtq *q)
{
    uint32_t data = disk->request.type == BLK_WRITE ? disk->bytes : 0;

    disk->held = false;
    disk->piece = BLK_SERVED;
    disk->left = disk->request.type == BLK_READ ? disk->bytes : 0;
    virtq_return(q, disk->buffer.head, (uint32_t)sizeof(struct disk_request) + data);
    virtq_interrupt(disk->server, q);
    return step_again();
}

/* Copies the next bytes of a write. */
static struct virtio_step fill_piece(struct virtio_device *dev, struct blk_disk *disk)
{
    struct virtio_chain *from = &disk->rest, *to = &disk->room;
    uint32_t n;

    if (virtio_chain_span(from) != VIRTIO_SOME) {
        return broken(dev); /* no byte for the status */
    }
    if (from->writable) {
        return end_pieces(disk, BLK_IOERR); /* the data ends in a sector */
    }
    if (virtio_chain_span(to) != VIRTIO_SOME || !to->writable) {
        return broken(disk->server);
    }
    n = virtio_min(virtio_min(from->room, to->room), virtio_min(disk->left, VIRTIO_PIECE));
    virtio_copy(to->at, from->at, n);
    virtio_chain_advance(from, n);
    virtio_chain_advance(to, n);
    disk->left -= n;
    return step_again();
}

static struct virtio_step forward_locked(struct virtio_device *dev, struct blk_disk *disk,
                                         struct virtq *q)
{
    if (disk->generation != q->generation) {
        return begin_again(disk, q);
    }
    switch (disk->piece) {
    case BLK_NO_PIECE:
        return measure_piece(dev, disk);
    case BLK_MEASURED:
        return begin_piece(dev, disk, q);
    case BLK_FILLING:
        return disk->left > 0 ? fill_piece(dev, disk) : send_piece(disk, q);
    default:
        return (struct virtio_step){.wait = true};
    }
}

struct virtio_step blk_forward(struct virtio_device *dev, struct blk_disk *disk)
{
    struct virtq *q = &disk->server->queues[DISK_SERVER_REQUESTS];
    struct virtio_step step;

    spin_lock(&q->lock);
    step = forward_locked(dev, disk, q);
    spin_unlock(&q->lock);
    return step;
}

/* --- an answer --- */

static struct virtio_device *disk_of(const struct virtio_device *server, uint32_t number)
{
    struct virtio_device *dev = number < virtio_device_count ? &virtio_devices[number] : NULL;
    const struct blk_disk *disk =
        dev != NULL && dev->config->kind == VIRTIO_IMAGE_BLOCK ? dev->data : NULL;

    return disk != NULL && disk->server == server ? dev : NULL;
}

static struct virtio_step begin_answer(struct virtio_device *dev, struct server *s, struct virtq *q)
{
    if (virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &s->rest) != VIRTIO_SOME ||
        virtio_chain_read(&s->rest, &s->answer, sizeof(s->answer)) != VIRTIO_SOME) {
        return broken(dev);
    }
    s->to = disk_of(dev, s->answer.disk);
    s->busy = s->to != NULL;
    s->taken = false;
    s->steps = STEPS_AFTER;
    return s->busy ? step_again() : broken(dev);
}

static struct virtio_step end_answer(struct server *s)
{
    s->taken = true;
    return step_again();
}

/* Copies the next bytes of a read to the driver's memory. Further bytes of the answer are
 * ignored. */
static struct virtio_step take_data(struct server *s, struct blk_disk *disk)
{
    struct virtio_chain *from = &s->rest, *to = &disk->rest;
    uint32_t n;

    if (virtio_chain_span(to) != VIRTIO_SOME) { /* no byte for the status */
        (void)end_pieces(disk, BLK_IOERR);      /* the server has no piece of the disk any more */
        (void)end_answer(s);
        return broken(s->to);
    }
    n = to->room - (to->next == CHAIN_END ? 1U : 0);
    if (!to->writable || n == 0 || virtio_chain_span(from) != VIRTIO_SOME || from->writable) {
        /* the data ends in a sector, or the answer has too little */
        (void)end_pieces(disk, BLK_IOERR);
        return end_answer(s);
    }
    n = virtio_min(virtio_min(from->room, n), virtio_min(disk->left, VIRTIO_PIECE));
    virtio_copy(to->at, from->at, n);
    virtio_chain_advance(from, n);
    virtio_chain_advance(to, n);
    disk->left -= n;
    disk->written += n;
    return step_again();
}

/* The server has done the piece. */
static struct virtio_step end_piece(struct server *s, struct blk_disk *disk)
{
    disk->piece = BLK_NO_PIECE;
    disk->at += disk->bytes;
    disk->forwards = !disk->flushes;
    return end_answer(s);
}

/* With the lock of the disk's queue. An answer to another request than the disk's current one is
 * ignored. */
static struct virtio_step take_answer(struct server *s, struct blk_disk *disk)
{
    if (disk->piece != BLK_SERVED || s->answer.number != disk->number) {
        return end_answer(s);
    }
    if (!disk->busy) { /* the driver has reset the disk */
        disk->piece = BLK_NO_PIECE;
        return end_answer(s);
    }
    if (s->answer.status != DISK_OK) {
        (void)end_pieces(disk, BLK_IOERR);
        return end_answer(s);
    }
    return disk->left > 0 ? take_data(s, disk) : end_piece(s, disk);
}

/* A step of the disk's queue, as when its driver had notified it; the caller calls virtio_break()
 * once it has released its locks. */
static struct virtio_step disk_step(struct virtio_device *disk)
{
    struct virtq *q = &disk->queues[0];
    struct virtio_step step = {.wait = true};

    spin_lock(&q->lock);
    if (q->ready && (virtq_waiting(q) != 0 || !virtq_enable_notify(disk, q))) {
        step = disk->class->step(disk, q);
        if (step.wait) {
            virtq_request_notify(disk, q);
        }
    }
    spin_unlock(&q->lock);
    return step;
}

/* A step of an answer, and then of the disk, until its queue has to wait. */
static struct virtio_step server_step(struct virtio_device *dev, struct virtq *q)
{
    struct server *s = dev->data;
    struct virtio_step step;

    if (!s->busy) {
        return begin_answer(dev, s, q);
    }
    if (!s->taken) {
        struct virtq *disk_queue = &s->to->queues[0];

        spin_lock(&disk_queue->lock);
        step = take_answer(s, s->to->data);
        spin_unlock(&disk_queue->lock);
        return step;
    }
    step = disk_step(s->to);
    if (step.wait || s->steps-- == 0) {
        s->busy = false;
        virtio_done(dev, q, s->rest.head, 0);
        step.wait = false;
    }
    return step;
}

/* --- the device --- */

static const char *server_boot(struct virtio_device *dev)
{
    dev->data = &servers[virtio_number(dev)];
    return NULL;
}

static uint32_t server_config(const struct virtio_device *dev, unsigned offset)
{
    (void)dev;
    return offset == 0 ? DISK_PIECE : 0;
}

/* Disks without requests are asked, too. */
static struct virtq *server_waiting(struct virtio_device *dev, struct virtio_device *to,
                                    ulong number)
{
    const struct blk_disk *disk = dev->data;

    return number == DISK_SERVER_REQUESTS && disk->server == to ? &dev->queues[0] : NULL;
}

static void server_reset(struct virtio_device *dev)
{
    struct server *s = dev->data;

    spin_lock(&dev->queues[DISK_SERVER_ANSWERS].lock);
    s->busy = false;
    spin_unlock(&dev->queues[DISK_SERVER_ANSWERS].lock);
}

VIRTIO_CLASS(server) = {
    .type = VIRTIO_IMAGE_DISK_SERVER,
    .queues = 2,
    .pci_class = CLASS_OTHER,
    .boot = server_boot,
    .config = server_config,
    .requests = 1U << DISK_SERVER_ANSWERS,
    .step = server_step,
    .senders = VIRTIO_IMAGE_BLOCK,
    .waiting = server_waiting,
    .reset = server_reset,
};
