/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in sections of its own. The first kind are interrupt lines that are set: a VM may let each
 * of its VCPUs take the same source, and an interrupt then wakes all that sleep: too much work for
 * the end of a step that has copied data. A timer that has already expired sets one line each time,
 * so other interrupts are taken between two of them. Each CPU has the lines of the interrupts that
 * it has raised: while it runs an RT app, its timers wait, and interrupts of other CPUs must not.
 * The second kind is what a device has for its driver after another device has stopped (serve() of
 * its class): its peers may be many.
 */
#include "arch.h"
#include "lib.h"
#include "sched.h"
#include "timer.h"
#include "virtio.h"

/* added to the number of a device: serve() instead of its line */
#define SERVE VIRTIO_MAX_FUNCTIONS
#define ITEMS (2U * VIRTIO_MAX_FUNCTIONS)

/* Owner: this file; each is accessed by its CPU only, the timer with sched_lock. */
static struct lines {
    struct timer timer;   /* armed while `count` is not 0 */
    uint8_t items[ITEMS]; /* a ring: of devices, from the one that waits for the longest */
    uint32_t first, count;
    uint64_t waiting; /* bit n: item n is in the ring */
} lines[SYSIMAGE_MAX_HARTS];

_Static_assert(ITEMS == 64U, "bits of lines.waiting");

static void arm(struct lines *l)
{
    spin_lock(&sched_lock);
    timer_arm(&l->timer, arch_time());
    spin_unlock(&sched_lock);
}

static void add(unsigned item)
{
    struct lines *l = &lines[cpu_self()->id];

    if ((l->waiting >> item & 1U) != 0) {
        return;
    }
    l->waiting |= UINT64_C(1) << item;
    l->items[(l->first + l->count) % ITEMS] = (uint8_t)item;
    l->count++;
    if (l->count == 1U) {
        arm(l);
    }
}

static void do_item(unsigned item)
{
    struct virtio_device *dev = &virtio_devices[item % SERVE];

    if (item < SERVE) {
        virtio_set_line(dev);
    } else if (dev->class->serve(dev)) {
        virtio_serve_later(dev);
    }
}

static void do_next(struct timer *t)
{
    struct lines *l = CONTAINER_OF(t, struct lines, timer);
    unsigned item = l->items[l->first];

    l->first = (l->first + 1U) % ITEMS;
    l->count--;
    l->waiting &= ~(UINT64_C(1) << item);
    if (l->count != 0) {
        arm(l);
    }
    do_item(item);
}

void virtio_lines_init(void)
{
    memset(lines, 0, sizeof(lines));
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        timer_init(&lines[i].timer, do_next);
        lines[i].timer.unlocked = true; /* vm->lock comes before sched_lock */
    }
}

void virtio_set_line_later(const struct virtio_device *dev)
{
    add(virtio_number(dev));
}

void virtio_serve_later(const struct virtio_device *dev)
{
    add(SERVE + virtio_number(dev));
}
