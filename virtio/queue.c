/* SPDX-License-Identifier: Apache-2.0 */
/* The device's side of split virtqueues (virtio 1.2, section 2.7). The guest may change its memory at any time: each value is read
 * once, checked, and used as it was read. */
#include "atomic.h"
#include "virtio.h"

#define DESC_NEXT 1U
#define DESC_WRITE 2U
#define DESC_INDIRECT 4U
#define AVAIL_NO_INTERRUPT 1U

bool virtq_map(const struct vm *vm, struct virtq *q)
{
    uint32_t size = q->size;
    /* with the fields of event suppression, which a ring has with and without that feature */
    uint32_t avail_size = 2U * (VIRTQ_RING + size + 1U), used_size = 2U * (VIRTQ_RING + 4U * size + 1U);
    bool aligned = q->address[0] % 16U == 0 && q->address[1] % 2U == 0 && q->address[2] % 4U == 0;

    q->mask = size - 1U;
    q->desc = virtio_ram(vm, memmap_address(q->address[0]), size * sizeof(struct virtq_desc));
    q->avail = virtio_ram(vm, memmap_address(q->address[1]), avail_size);
    q->ring = virtio_ram(vm, memmap_address(q->address[2]), used_size);
    q->used_event = q->avail + VIRTQ_RING + size;
    q->avail_event = q->ring + VIRTQ_RING + 4U * size;
    return aligned && q->desc != NULL && q->avail != NULL && q->ring != NULL;
}

/* Uses the descriptors of an indirect table from now on (section 2.7.5.3). The descriptor of the table is the last one in the queue's
 * own table, and is not one of the chain's. */
static enum virtio_found enter_table(struct virtio_chain *c, uint64_t address, uint32_t length, unsigned flags)
{
    bool nested = c->in_table; /* wrong, or each call would pass through many tables */

    c->left++;
    c->entries = length / sizeof(struct virtq_desc);
    c->table = virtio_ram(c->dev->vm, memmap_address(address), length);
    c->next = 0;
    c->in_table = true;
    return !nested && c->table != NULL && address % 16U == 0 && length % sizeof(struct virtq_desc) == 0 &&
                   flags == DESC_INDIRECT && (c->dev->features & VIRTIO_F_INDIRECT_DESC) != 0
               ? VIRTIO_SOME
               : VIRTIO_WRONG;
}

static enum virtio_found next_descriptor(struct virtio_chain *c)
{
    uint64_t address, rest;
    unsigned flags;

    if (c->next >= c->entries || c->left == 0) {
        return VIRTIO_WRONG; /* outside of the table, or a loop */
    }
    c->left--;
    address = c->table[c->next].address;
    rest = c->table[c->next].rest;
    flags = (uint16_t)(rest >> 32);
    if ((flags & DESC_INDIRECT) != 0) {
        return enter_table(c, address, (uint32_t)rest, flags);
    }
    c->next = (flags & DESC_NEXT) != 0 ? (uint32_t)(rest >> 48) : CHAIN_END;
    c->room = (uint32_t)rest;
    c->writable = (flags & DESC_WRITE) != 0;
    c->at = virtio_ram(c->dev->vm, memmap_address(address), c->room);
    return c->at != NULL ? VIRTIO_SOME : VIRTIO_WRONG; /* an empty buffer is wrong, too */
}

enum virtio_found virtio_chain_next(struct virtio_chain *c)
{
    enum virtio_found found = VIRTIO_SOME;

    while (c->room == 0 && found == VIRTIO_SOME) { /* twice for an indirect table */
        found = c->next == CHAIN_END ? VIRTIO_NONE : next_descriptor(c);
    }
    return found;
}

/* Part `number` of what is copied to or from the chain. */
static enum virtio_found go_to_part(struct virtio_chain *c, unsigned number, bool writable)
{
    enum virtio_found found = virtio_chain_span(c);

    if (found == VIRTIO_SOME && number == VIRTIO_PARTS) {
        return VIRTIO_WRONG;
    }
    return found == VIRTIO_SOME && c->writable != writable ? VIRTIO_NONE : found;
}

/* Copies in one direction: the NULL one of `dst` and `src` is the chain. */
static enum virtio_found transfer(struct virtio_chain *c, char *dst, const char *src, uint32_t size)
{
    for (unsigned parts = 0; size > 0; parts++) {
        enum virtio_found found = go_to_part(c, parts, src != NULL);
        uint32_t n = size < c->room ? size : c->room;

        if (found != VIRTIO_SOME) {
            return found;
        }
        virtio_copy(dst != NULL ? dst : c->at, src != NULL ? src : c->at, n);
        dst = dst != NULL ? dst + n : NULL;
        src = src != NULL ? src + n : NULL;
        virtio_chain_advance(c, n);
        size -= n;
    }
    return VIRTIO_SOME;
}

enum virtio_found virtio_chain_read(struct virtio_chain *chain, void *dst, uint32_t size)
{
    return transfer(chain, dst, NULL, size);
}

enum virtio_found virtio_chain_write(struct virtio_chain *chain, const void *src, uint32_t size)
{
    return transfer(chain, NULL, src, size);
}

enum virtio_found virtq_first(const struct virtio_device *dev, const struct virtq *q, unsigned most,
                              struct virtio_chain *chain)
{
    uint32_t head = q->avail[VIRTQ_RING + (q->next & q->mask)];

    if (virtq_waiting(q) > q->mask + 1U) {
        return VIRTIO_WRONG;
    }
    *chain = (struct virtio_chain){
        .dev = dev,
        .table = q->desc,
        .entries = q->mask + 1U,
        .head = head,
        .left = q->mask + 1U < most ? q->mask + 1U : most,
        .next = head,
    };
    return VIRTIO_SOME;
}

void virtq_return(struct virtq *q, uint32_t head, uint32_t length)
{
    volatile uint32_t *element = (volatile uint32_t *)(volatile void *)&q->ring[VIRTQ_RING] + 2U * (q->used & q->mask);

    element[0] = head;
    element[1] = length;
    q->used++;
    atomic_store_release(&q->ring[VIRTQ_INDEX], (uint16_t)q->used);
}

bool virtq_wants_interrupt(const struct virtio_device *dev, struct virtq *q)
{
    uint32_t since = (q->used - q->checked) & 0xffffU;

    q->checked = q->used;
    atomic_fence_seq(); /* the index is visible before the wish is read: the driver writes its wish, then reads the index */
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        return ((q->used - *q->used_event - 1U) & 0xffffU) < since;
    }
    return since != 0 && (q->avail[VIRTQ_FLAGS] & AVAIL_NO_INTERRUPT) == 0;
}

bool virtq_await(const struct virtio_device *dev, struct virtq *q)
{
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        *q->avail_event = (uint16_t)q->next;
        atomic_fence_seq(); /* as in virtq_wants_interrupt(), the sides exchanged */
    }
    return virtq_waiting(q) == 0;
}

void virtq_ask(const struct virtio_device *dev, struct virtq *q)
{
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        *q->avail_event = atomic_load_acquire(&q->avail[VIRTQ_INDEX]);
    }
}
