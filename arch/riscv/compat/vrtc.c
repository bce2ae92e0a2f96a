/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's emulated goldfish RTC: nanoseconds since 1970 in two registers, and an alarm. It starts
 * from the board's clock at boot and advances with the time CSR. A guest can set only its own
 * clock, until the VM restarts.
 */
#include "arch.h"
#include "compat.h"
#include "sched.h"
#include "system.h"

enum {
    TIME_LOW = 0x00, /* a read latches the upper half */
    TIME_HIGH = 0x04,
    ALARM_LOW = 0x08, /* a write sets the alarm */
    ALARM_HIGH = 0x0c,
    IRQ_ENABLED = 0x10,
    CLEAR_ALARM = 0x14,
    ALARM_STATUS = 0x18,
    CLEAR_INTERRUPT = 0x1c,
    RTC_SIZE = 0x24
};

#define SECOND UINT64_C(1000000000) /* ns */

static uint64_t clock_base; /* ns since 1970 when the time CSR was 0; owner: rtc_boot() */

/* A VM's emulated RTC. Guarded by vm.lock. */
struct vrtc {
    uint64_t offset;    /* ns that the guest has added by setting the time */
    uint64_t alarm;     /* ns since 1970 */
    uint32_t high;      /* upper half of the time, latched by the last read of TIME_LOW */
    bool enabled;       /* the alarm's interrupt is enabled */
    bool pending;       /* the alarm has expired and is not acknowledged */
    bool running;       /* the alarm is set and not due */
    bool line;          /* state of the interrupt line */
    struct timer timer; /* armed while the alarm is running */
};

static struct vrtc rtcs[SYSIMAGE_MAX_VMS]; /* owner: this file; by the VM's id */

static struct vrtc *rtc_of(const struct vm *vm)
{
    return &rtcs[vm->id];
}

static uint64_t ns_of(ticks_t ticks)
{
    uint64_t hz = hyp.image->timebase_hz; /* at most 10^10: no overflow below */

    return ticks / hz * SECOND + ticks % hz * SECOND / hz;
}

/* The time `ns` from now, always in the future; TICKS_NEVER if too far. Guests set clock and alarm
 * to any value; only their difference is bounded, by 2^64 ns. */
static ticks_t time_after(uint64_t ns)
{
    uint64_t hz = hyp.image->timebase_hz, seconds = ns / SECOND;

    if (seconds >= TICKS_NEVER / 2U / hz) {
        return TICKS_NEVER;
    }
    return arch_time() + seconds * hz + (ns % SECOND * hz + SECOND - 1U) / SECOND;
}

static uint64_t rtc_now(const struct vrtc *r)
{
    return clock_base + r->offset + ns_of(arch_time());
}

static void rtc_update(struct vm *vm)
{
    struct vrtc *r = rtc_of(vm);
    bool line = r->pending && r->enabled;

    if (line != r->line) {
        r->line = line;
        if (vm->config->rtc_irq != 0) {
            arch_vm_irq(vm, vm->config->rtc_irq, line);
        }
    }
}

/* Arms the timer, or disarms it with TICKS_NEVER; only a running alarm has an armed timer. */
static void rtc_arm(struct vrtc *r, ticks_t deadline)
{
    spin_lock(&sched_lock);
    timer_arm(&r->timer, deadline);
    spin_unlock(&sched_lock);
}

/* Starts the alarm, or makes it pending if it is due. */
static void rtc_run_alarm(struct vm *vm)
{
    struct vrtc *r = rtc_of(vm);
    uint64_t now = rtc_now(r);

    r->running = r->alarm > now;
    r->pending = r->pending || !r->running;
    rtc_arm(r, r->running ? time_after(r->alarm - now) : TICKS_NEVER);
    rtc_update(vm);
}

static void rtc_expired(struct timer *t)
{
    struct vm *vm = &hyp.vms[CONTAINER_OF(t, struct vrtc, timer) - rtcs];

    spin_lock(&vm->lock);
    if (rtc_of(vm)->running) { /* false if the alarm was just cleared or the VM stopped */
        rtc_run_alarm(vm);
    }
    vm_unlock(vm);
}

static uint32_t rtc_load(struct vrtc *r, gpa_t offset)
{
    uint64_t now;

    switch (offset) {
    case TIME_LOW:
        now = rtc_now(r);
        r->high = (uint32_t)(now >> 32);
        return (uint32_t)now;
    case TIME_HIGH:
        return r->high;
    case ALARM_LOW:
        return (uint32_t)r->alarm;
    case ALARM_HIGH:
        return (uint32_t)(r->alarm >> 32);
    case IRQ_ENABLED:
        return r->enabled;
    case ALARM_STATUS:
        return r->running;
    default:
        return 0;
    }
}

static uint64_t with_low(uint64_t old, uint32_t value)
{
    return (old & ~UINT64_C(0xffffffff)) | value;
}

static uint64_t with_high(uint64_t old, uint32_t value)
{
    return (uint32_t)old | (uint64_t)value << 32;
}

static void rtc_store(struct vm *vm, gpa_t offset, uint32_t value)
{
    struct vrtc *r = rtc_of(vm);
    uint64_t now = rtc_now(r);

    switch (offset) {
    case TIME_LOW:
        r->offset += with_low(now, value) - now;
        break;
    case TIME_HIGH:
        r->offset += with_high(now, value) - now;
        break;
    case ALARM_LOW:
        r->alarm = with_low(r->alarm, value);
        rtc_run_alarm(vm);
        break;
    case ALARM_HIGH:
        r->alarm = with_high(r->alarm, value);
        break;
    case IRQ_ENABLED:
        r->enabled = (value & 1U) != 0;
        rtc_update(vm);
        break;
    case CLEAR_ALARM:
        r->running = false;
        rtc_arm(r, TICKS_NEVER);
        break;
    case CLEAR_INTERRUPT:
        r->pending = false;
        rtc_update(vm);
        break;
    default:
        break;
    }
}

/* Registers have 32 bits; a 64-bit access reads or writes two of them. */
static ulong rtc_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    struct vm *vm = v->vm;
    ulong value;

    spin_lock(&vm->lock);
    value = rtc_load(rtc_of(vm), offset);
    if (width_log2 == 3) {
        value |= (ulong)rtc_load(rtc_of(vm), offset + 4U) << 32;
    }
    spin_unlock(&vm->lock);
    return value;
}

static void rtc_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    struct vm *vm = v->vm;

    spin_lock(&vm->lock);
    rtc_store(vm, offset, (uint32_t)value);
    if (width_log2 == 3) {
        rtc_store(vm, offset + 4U, (uint32_t)(value >> 32));
    }
    vm_unlock(vm);
}

void rtc_reset(struct vm *vm)
{
    struct vrtc *r = rtc_of(vm);

    if (vm->config->rtc != 0) {
        rtc_arm(r, TICKS_NEVER);
    }
    r->offset = 0;
    r->alarm = 0;
    r->high = 0;
    r->enabled = false;
    r->pending = false;
    r->running = false;
    r->line = false;
}

static bool rtc_add(struct vm *vm)
{
    const struct vdev dev = {.base = (gpa_t)vm->config->rtc,
                             .size = RTC_SIZE,
                             .widths = 4 | 8,
                             .read = rtc_read,
                             .write = rtc_write};
    struct timer *alarm = &rtc_of(vm)->timer;

    timer_init(alarm, rtc_expired);
    alarm->unlocked = true;
    return dev.base == 0 || vdev_add(&vm->devs, &dev);
}

const char *rtc_boot(void)
{
    bool added = true;

    clock_base = hyp.wall_clock - ns_of(arch_time());
    for (struct vm *vm = hyp.vms; vm < &hyp.vms[hyp.nvms] && added; vm++) {
        added = rtc_add(vm);
    }
    return added ? NULL : "too many emulated devices";
}
