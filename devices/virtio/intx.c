/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts of functions (INTx), and work in sections of its own. The first kind of work are
 * interrupt lines that are set: a VM may let each of its VCPUs take the same source, and an
 * interrupt then wakes all that sleep: too much work for the end of a step that has copied data. A
 * timer that has already expired sets one line each time, so other interrupts are taken between two
 * of them. Each CPU has the lines of the interrupts that it has raised: while it runs an RT app,
 * its timers wait, and interrupts of other CPUs must not. The second kind is what a device has for
 * its driver after another device has stopped (serve() of its class): its peers may be many.
 */
#include "arch.h"
#include "lib.h"
#include "pci_regs.h"
#include "sched.h"
#include "timer.h"
#include "virtio.h"

#define FEW_VCPUS 2U /* woken by the section that raises their interrupt */

/* added to the number of a device: serve() instead of its line */
#define SERVE VIRTIO_MAX_FUNCTIONS
#define ITEMS (2U * VIRTIO_MAX_FUNCTIONS)

/* Owner: this file; each is accessed by its CPU only, the timer with sched_lock. */
static struct lines {
    struct timer timer;    /* armed while `count` is not 0 */
    uint8_t items[ITEMS];  /* a ring: of devices, from the one that waits for the longest */
    uint32_t first, count; /* of the ring: index of the first one, and their number */
    uint64_t waiting;      /* bit n: item n is in the ring */
} lines[SYSIMAGE_MAX_HARTS];

uint32_t virtio_pending[SYSIMAGE_MAX_HARTS];

_Static_assert(ITEMS == 64U, "bits of lines.waiting, and twice those of virtio_pending");

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
    memset(virtio_pending, 0, sizeof(virtio_pending));
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

/* --- interrupts --- */

void virtio_set_line_locked(struct virtio_device *dev)
{
    bool disabled = (dev->command & COMMAND_INTX_DISABLE) != 0;

    if (dev->class->mask != NULL) {
        dev->class->mask(dev, disabled);
    } else {
        arch_vm_irq(dev->vm, VIRTIO_IRQ + dev->config->slot, dev->isr != 0 && !disabled);
    }
}

void virtio_set_line(struct virtio_device *dev)
{
    spin_lock(&dev->vm->lock);
    virtio_set_line_locked(dev);
    vm_unlock(dev->vm);
}

/* `if_live`: only a device whose driver is ready. If an interrupt is pending for this CPU, which
 * may have just copied data, the line is set in a section of its own. */
static void interrupt(struct virtio_device *dev, uint32_t bits, bool if_live)
{
    bool now = !arch_irq_pending() && dev->vm->nvcpus <= FEW_VCPUS;

    spin_lock(&dev->vm->lock);
    if (!if_live || virtio_is_live(dev)) {
        dev->isr |= bits;
        if (now) {
            virtio_set_line_locked(dev);
        }
    }
    vm_unlock(dev->vm);
    if (!now) {
        virtio_set_line_later(dev);
    }
}

void virtio_interrupt(struct virtio_device *dev, uint32_t bits)
{
    interrupt(dev, bits, false);
}

/* A device that another CPU has reset since is not live. If its driver has already started it
 * again, the interrupt announces nothing, which drivers tolerate. */
void virtio_raise(uint32_t pending)
{
    cpu_gather_kicks();
    for (struct virtio_device *dev = virtio_devices; pending != 0; pending >>= 1, dev++) {
        if ((pending & 1U) != 0) {
            interrupt(dev, VIRTIO_ISR_QUEUE, true);
        }
    }
    cpu_end_kicks();
}

void virtio_clear_isr(struct virtio_device *dev)
{
    dev->isr = 0;
    virtio_set_line_locked(dev);
}

uint32_t virtio_take_isr(struct virtio_device *dev)
{
    uint32_t isr;

    spin_lock(&dev->vm->lock);
    isr = dev->isr;
    virtio_clear_isr(dev);
    vm_unlock(dev->vm);
    return isr;
}
