/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt lines that are set in a section of their own. A VM may let each of its VCPUs take the same source, and an interrupt then wakes all
 * that sleep: too much work for the end of a step that has copied data. A timer that has already expired sets one line each time, so other
 * interrupts are taken between two of them.
 */
#include "arch.h"
#include "list.h"
#include "sched.h"
#include "timer.h"
#include "virtio.h"

/* Guarded by sched_lock; owner: this file. While the list is not empty, the timer is armed or has just expired. */
static struct list due;
static struct timer timer;

static void set_next(struct timer *t)
{
    struct virtio_device *dev;

    spin_lock(&sched_lock);
    dev = CONTAINER_OF(due.next, struct virtio_device, line_due);
    list_remove(&dev->line_due);
    if (!list_empty(&due)) {
        timer_arm(t, arch_time());
    }
    spin_unlock(&sched_lock);
    virtio_set_line(dev);
}

void virtio_lines_init(void)
{
    list_init(&due);
    timer_init(&timer, set_next);
    timer.unlocked = true; /* vm->lock comes before sched_lock */
}

void virtio_set_line_later(struct virtio_device *dev)
{
    spin_lock(&sched_lock);
    if (list_empty(&due)) {
        timer_arm(&timer, arch_time());
    }
    list_remove(&dev->line_due);
    list_insert_before(&due, &dev->line_due);
    spin_unlock(&sched_lock);
}
