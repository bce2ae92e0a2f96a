/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt lines that are set in a section of their own. A VM may let each of its VCPUs take the same source, and an interrupt then wakes all
 * that sleep: too much work for the end of a step that has copied data. A timer that has already expired sets one line each time, so other
 * interrupts are taken between two of them. Each CPU has the lines of the interrupts that it has raised: while it runs an RT app, its timers
 * wait, and interrupts of other CPUs must not.
 */
#include "arch.h"
#include "lib.h"
#include "sched.h"
#include "timer.h"
#include "virtio.h"

/* Owner: this file; each is accessed by its CPU only, the timer with sched_lock. */
static struct lines {
    struct timer timer;                    /* armed while `count` is not 0 */
    uint8_t numbers[VIRTIO_MAX_FUNCTIONS]; /* a ring: of devices, from the one that waits for the longest */
    uint32_t first, count;
    uint32_t waiting; /* bit n: device n is in the ring */
} lines[SYSIMAGE_MAX_HARTS];

_Static_assert(VIRTIO_MAX_FUNCTIONS == 32U, "bits of lines.waiting");

static void arm(struct lines *l)
{
    spin_lock(&sched_lock);
    timer_arm(&l->timer, arch_time());
    spin_unlock(&sched_lock);
}

static void set_next(struct timer *t)
{
    struct lines *l = CONTAINER_OF(t, struct lines, timer);
    unsigned number = l->numbers[l->first];

    l->first = (l->first + 1U) % VIRTIO_MAX_FUNCTIONS;
    l->count--;
    l->waiting &= ~(1U << number);
    if (l->count != 0) {
        arm(l);
    }
    virtio_set_line(&virtio_devices[number]);
}

void virtio_lines_init(void)
{
    memset(lines, 0, sizeof(lines));
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        timer_init(&lines[i].timer, set_next);
        lines[i].timer.unlocked = true; /* vm->lock comes before sched_lock */
    }
}

void virtio_set_line_later(const struct virtio_device *dev)
{
    struct lines *l = &lines[cpu_self()->id];
    unsigned number = virtio_number(dev);

    if ((l->waiting >> number & 1U) != 0) {
        return;
    }
    l->waiting |= 1U << number;
    l->numbers[(l->first + l->count) % VIRTIO_MAX_FUNCTIONS] = (uint8_t)number;
    l->count++;
    if (l->count == 1U) {
        arm(l);
    }
}
