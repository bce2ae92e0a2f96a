/* SPDX-License-Identifier: Apache-2.0 */
/* The device's side of split virtqueues (virtio 1.2, section 2.7). The guest may change its memory
 * at any time: each value is read once, checked, and used as it was read. */
#include "atomic.h"
#include "virtio.h"

#define DESC_NEXT 1U
#define DESC_WRITE 2U
#define DESC_INDIRECT 4U
#define AVAIL_NO_INTERRUPT 1U

void *virtio_ram(const struct vm *vm, gpa_t gpa, uint64_t size)
{
    hpa_t hpa;

    return memmap_ram(&vm->memmap, gpa, size, &hpa) ? arch_memory(hpa) : NULL;
}

bool virtq_map(const struct vm *vm, struct virtq *q)
{
    const volatile struct virtq *registers = q; /* each is read once: another VCPU can write them */
    uint32_t size = registers->size;
    /* with the fields of event suppression, which a ring has with and without that feature */
    uint32_t avail_size = 2U * (VIRTQ_RING + size + 1U),
             used_size = 2U * (VIRTQ_RING + 4U * size + 1U);
    uint64_t desc = registers->address[0], avail = registers->address[1],
             ring = registers->address[2];
    bool aligned = desc % 16U == 0 && avail % 2U == 0 && ring % 4U == 0;

    q->mask = size - 1U;
    q->desc = virtio_ram(vm, memmap_address(desc), size * sizeof(struct virtq_desc));
    q->avail = virtio_ram(vm, memmap_address(avail), avail_size);
    q->ring = virtio_ram(vm, memmap_address(ring), used_size);
    q->used_event = q->avail + VIRTQ_RING + size;
    q->avail_event = q->ring + VIRTQ_RING + 4U * size;
    return aligned && q->desc != NULL && q->avail != NULL && q->ring != NULL;
}

/* A descriptor is read once; its index must be in the table, and the chain not too long, as a loop
 * is. */
static bool take_descriptor(struct virtio_chain *c, struct virtq_desc *desc)
{
    if (c->next >= c->entries || c->left == 0) {
        return false;
    }
    c->left--;
    desc->address = c->table[c->next].address;
    desc->rest = c->table[c->next].rest;
    return true;
}

/* The flags of a descriptor, from bit 0 on. */
static uint32_t flags_of(struct virtq_desc desc)
{
    return (uint32_t)(desc.rest >> 32);
}

/* A buffer outside of the VM's first region of RAM. */
static enum virtio_found find_buffer(struct virtio_chain *c, gpa_t gpa)
{
    c->at = virtio_ram(c->dev->vm, gpa, c->room);
    return c->at != NULL ? VIRTIO_SOME : VIRTIO_WRONG;
}

/* The buffer of the descriptor is the chain's current one. An empty buffer is wrong. */
static inline enum virtio_found enter_buffer(struct virtio_chain *c, struct virtq_desc desc)
{
    /* RAM, checked by sysimage_check() */
    const struct sysimage_region *first = c->dev->vm->memmap.regions;
    gpa_t gpa = memmap_address(desc.address);
    uint32_t flags = flags_of(desc), size = (uint32_t)desc.rest;

    c->next = (flags & DESC_NEXT) != 0 ? (uint32_t)(desc.rest >> 48) : CHAIN_END;
    c->room = size;
    c->writable = (flags & DESC_WRITE) != 0;
    if (size == 0 || !memmap_has(first, gpa, size)) {
        return find_buffer(c, gpa);
    }
    c->at = arch_memory(memmap_host(first, gpa));
    return VIRTIO_SOME;
}

/* Uses the descriptors of an indirect table from now on (section 2.7.5.3). The descriptor of the
 * table is the last one in the queue's own table, and is not one of the chain's; its write flag is
 * ignored. A table can be anywhere, but at an address that is no multiple of 8 it would be read in
 * bytes. */
static enum virtio_found enter_table(struct virtio_chain *c, struct virtq_desc desc)
{
    uint32_t length = (uint32_t)desc.rest;
    bool nested = c->in_table; /* wrong, or each call would pass through many tables */
    struct virtq_desc first;

    c->left++;
    c->entries = length / sizeof(struct virtq_desc);
    c->table = virtio_ram(c->dev->vm, memmap_address(desc.address), length);
    c->next = 0;
    c->in_table = true;
    if (nested || c->table == NULL || desc.address % sizeof(uint64_t) != 0 ||
        length % sizeof(struct virtq_desc) != 0 || (flags_of(desc) & DESC_NEXT) != 0 ||
        (c->dev->features & VIRTIO_F_INDIRECT_DESC) == 0) {
        return VIRTIO_WRONG;
    }
    return take_descriptor(c, &first) && (flags_of(first) & DESC_INDIRECT) == 0
               ? enter_buffer(c, first)
               : VIRTIO_WRONG;
}

enum virtio_found virtio_chain_next(struct virtio_chain *c)
{
    struct virtq_desc desc;

    if (!take_descriptor(c, &desc)) {
        return VIRTIO_WRONG;
    }
    return (flags_of(desc) & DESC_INDIRECT) != 0 ? enter_table(c, desc) : enter_buffer(c, desc);
}

/* The next bytes of a header, at most `size`: their number in *n. `part` counts its buffers. */
static inline enum virtio_found span_part(struct virtio_chain *c, unsigned part, bool writable,
                                          uint32_t size, uint32_t *n)
{
    enum virtio_found found = virtio_chain_span(c);

    if (found == VIRTIO_SOME && part == VIRTIO_PARTS) {
        return VIRTIO_WRONG;
    }
    *n = virtio_min(size, c->room);
    return found == VIRTIO_SOME && c->writable != writable ? VIRTIO_NONE : found;
}

enum virtio_found virtio_chain_read(struct virtio_chain *chain, void *dst, uint32_t size)
{
    uint32_t n;

    for (unsigned part = 0; size > 0; part++, size -= n) {
        enum virtio_found found = span_part(chain, part, false, size, &n);

        if (found != VIRTIO_SOME) {
            return found;
        }
        virtio_copy(dst, chain->at, n);
        virtio_chain_advance(chain, n);
        dst = (char *)dst + n;
    }
    return VIRTIO_SOME;
}

enum virtio_found virtio_chain_write(struct virtio_chain *chain, const void *src, uint32_t size)
{
    uint32_t n;

    for (unsigned part = 0; size > 0; part++, size -= n) {
        enum virtio_found found = span_part(chain, part, true, size, &n);

        if (found != VIRTIO_SOME) {
            return found;
        }
        virtio_copy(chain->at, src, n);
        virtio_chain_advance(chain, n);
        src = (const char *)src + n;
    }
    return VIRTIO_SOME;
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
        .left = virtio_min(q->mask + 1U, most),
        .next = head,
    };
    return VIRTIO_SOME;
}

void virtq_return_all(struct virtq *q, const struct virtq_used *chains, uint32_t count)
{
    volatile uint32_t *ring = (volatile uint32_t *)(volatile void *)&q->ring[VIRTQ_RING];
    uint32_t mask = q->mask, used = q->used;

    for (const struct virtq_used *chain = chains; chain < chains + count; chain++, used++) {
        volatile uint32_t *element = ring + (size_t)2U * (used & mask);

        element[0] = chain->head;
        element[1] = chain->length;
    }
    q->used = used;
    atomic_store_release(&q->ring[VIRTQ_INDEX], (uint16_t)used);
}

static bool wants_interrupt(const struct virtio_device *dev, struct virtq *q)
{
    uint32_t since = (q->used - q->checked) & 0xffffU;

    q->checked = q->used;
    /* the index is visible before the wish is read: the driver writes its wish, then reads the
     * index */
    atomic_fence_seq();
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        return ((q->used - *q->used_event - 1U) & 0xffffU) < since;
    }
    return since != 0 && (q->avail[VIRTQ_FLAGS] & AVAIL_NO_INTERRUPT) == 0;
}

void virtq_interrupt(const struct virtio_device *dev, struct virtq *q)
{
    if (wants_interrupt(dev, q)) {
        virtio_pending[cpu_self()->id] |= 1U << virtio_number(dev);
    }
}

bool virtq_enable_notify(const struct virtio_device *dev, struct virtq *q)
{
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        *q->avail_event = (uint16_t)q->next;
        atomic_fence_seq(); /* as in wants_interrupt(), the sides exchanged */
    }
    return virtq_waiting(q) == 0;
}

void virtq_request_notify(const struct virtio_device *dev, struct virtq *q)
{
    if ((dev->features & VIRTIO_F_EVENT_IDX) != 0) {
        *q->avail_event = atomic_load_acquire(&q->avail[VIRTQ_INDEX]);
    }
}
