/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's side of a split virtqueue (virtqueue.h). The caller owns struct virtqueue. */
#include "virtqueue.h"

#include "virtio_fence.h"

#define NEXT 1U /* flags of a descriptor */
#define WRITE 2U
#define NO_INTERRUPT 1U /* flag of the available ring */
#define NO_NOTIFY 1U    /* flag of the used ring */

_Static_assert((VIRTQUEUE_ENTRIES & (VIRTQUEUE_ENTRIES - 1U)) == 0, "a power of two");
_Static_assert(sizeof(struct virtqueue_descriptor) == 16, "section 2.7.5");
_Static_assert(sizeof(struct virtqueue_used_entry) == 8, "section 2.7.8");

/* The two events are behind the ring's last entry in use. */
static volatile uint16_t *used_event(struct virtqueue *queue)
{
    return &queue->available.ring[queue->size];
}

static uint16_t avail_event(const struct virtqueue *queue)
{
    return (uint16_t)queue->used.ring[queue->size].id;
}

void virtqueue_init(struct virtqueue *queue, uint16_t size, bool event_idx)
{
    queue->available.flags = NO_INTERRUPT;
    queue->available.index = 0;
    queue->used.flags = 0;
    queue->used.index = 0;
    queue->used.ring[size].id = 0;
    for (uint16_t i = 0; i < size; i++) {
        queue->next[i] = (uint16_t)(i + 1U);
        queue->parts[i] = 0;
    }
    queue->size = size;
    queue->free = 0;
    queue->unused = size;
    queue->added = 0;
    queue->announced = 0;
    queue->taken = 0;
    queue->offset = 0;
    queue->event_idx = event_idx;
    queue->broken = false;
    virtqueue_interrupt(queue, false);
}

static bool valid(const struct virtqueue_part *parts, unsigned int count)
{
    for (unsigned int i = 1; i < count; i++) {
        if (parts[i - 1U].writable && !parts[i].writable) {
            return false;
        }
    }
    return count >= 1 && count <= VIRTQUEUE_PARTS;
}

/* Writes the descriptors of a chain that begins at the head of the free list. */
static void describe(struct virtqueue *queue, const struct virtqueue_part *parts,
                     unsigned int count)
{
    uint16_t at = queue->free;

    queue->parts[at] = (uint8_t)count;
    queue->capacity[at] = 0;
    for (unsigned int i = 0; i < count; i++) {
        struct virtqueue_descriptor *descriptor = &queue->descriptors[queue->free];
        bool more = i + 1U < count;

        descriptor->address = queue->offset + (uintptr_t)parts[i].data;
        descriptor->bytes = parts[i].bytes;
        descriptor->flags = (uint16_t)((more ? NEXT : 0U) | (parts[i].writable ? WRITE : 0U));
        descriptor->next = more ? queue->next[queue->free] : 0;
        queue->capacity[at] += parts[i].writable ? parts[i].bytes : 0;
        queue->free = queue->next[queue->free];
    }
    queue->unused = (uint16_t)(queue->unused - count);
}

int virtqueue_add(struct virtqueue *queue, const struct virtqueue_part *parts, unsigned int count)
{
    uint16_t head = queue->free;

    if (!valid(parts, count)) {
        return VIRTIO_INVALID;
    }
    if (queue->broken) {
        return VIRTIO_BROKEN;
    }
    if (queue->unused < count) {
        return VIRTIO_FULL;
    }
    describe(queue, parts, count);
    queue->available.ring[queue->added & (queue->size - 1U)] = head;
    virtio_fence(); /* the device reads the entry after the index */
    queue->added++;
    queue->available.index = queue->added;
    return head;
}

/* Whether the event is one of the entries from `before` up to `now` (section 2.7.10.1). */
static bool passed(uint16_t event, uint16_t before, uint16_t now)
{
    return (uint16_t)(now - event - 1U) < (uint16_t)(now - before);
}

static void ring(const struct virtqueue_door *door)
{
    if (door->wide != NULL) {
        *door->wide = door->number;
    } else {
        *door->narrow = door->number;
    }
}

void virtqueue_notify(struct virtqueue *queue)
{
    uint16_t before = queue->announced;
    bool wanted;

    if (queue->broken || queue->added == before) {
        return;
    }
    virtio_fence(); /* the device reads the index before it writes the event that is read here */
    queue->announced = queue->added;
    wanted = queue->event_idx ? passed(avail_event(queue), before, queue->added)
                              : (queue->used.flags & NO_NOTIFY) == 0;
    if (wanted) {
        ring(&queue->door);
    }
}

bool virtqueue_used(const struct virtqueue *queue)
{
    return queue->broken || queue->used.index != queue->taken;
}

/* Gives the descriptors of a chain back to the free list. */
static void release(struct virtqueue *queue, uint16_t head)
{
    uint16_t last = head;

    for (unsigned int i = 1; i < queue->parts[head]; i++) {
        last = queue->next[last];
    }
    queue->unused = (uint16_t)(queue->unused + queue->parts[head]);
    queue->parts[head] = 0;
    queue->next[last] = queue->free;
    queue->free = head;
}

int virtqueue_take(struct virtqueue *queue, uint32_t *bytes)
{
    const volatile struct virtqueue_used_entry *entry =
        &queue->used.ring[queue->taken & (queue->size - 1U)];
    uint32_t head, written;

    if (queue->broken) {
        return VIRTIO_BROKEN;
    }
    if (!virtqueue_used(queue)) {
        return VIRTIO_FULL;
    }
    virtio_fence();   /* the entry is read after the index */
    head = entry->id; /* read once: the device could change it */
    written = entry->bytes;
    if (head >= queue->size || queue->parts[head] == 0) {
        queue->broken = true;
        return VIRTIO_BROKEN;
    }
    queue->taken++;
    *bytes = written < queue->capacity[head] ? written : queue->capacity[head];
    release(queue, (uint16_t)head);
    return (int)head;
}

void virtqueue_interrupt(struct virtqueue *queue, bool on)
{
    if (queue->event_idx) {
        /* Off: an event that the device reaches after another 2^15 buffers at the earliest. */
        *used_event(queue) = (uint16_t)(on ? queue->taken : queue->taken + 0x8000U);
        queue->available.flags = 0;
    } else {
        queue->available.flags = (uint16_t)(on ? 0U : NO_INTERRUPT);
    }
    virtio_fence(); /* the caller looks for used buffers after it */
}
