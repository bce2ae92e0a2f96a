/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's emulated goldfish RTC: nanoseconds since 1970 in two registers, and an alarm. It starts
 * from the board's clock at boot and advances with the time CSR. A guest can set only its own
 * clock, until the VM restarts.
 */
#include "arch.h"
#include "internal.h"
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

static uint64_t clock_base; /* ns since 1970 when the time CSR was 0; owner: vrtc_boot() */

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

void vrtc_boot(uint64_t now)
{
    clock_base = now - ns_of(arch_time());
}

static uint64_t rtc_now(const struct vrtc *r)
{
    return clock_base + r->offset + ns_of(arch_time());
}

static void rtc_update(struct vm *vm)
{
    struct vrtc *r = &vm->arch.rtc;
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
    struct vrtc *r = &vm->arch.rtc;
    uint64_t now = rtc_now(r);

    r->running = r->alarm > now;
    r->pending = r->pending || !r->running;
    rtc_arm(r, r->running ? time_after(r->alarm - now) : TICKS_NEVER);
    rtc_update(vm);
}

static void rtc_expired(struct timer *t)
{
    struct vm *vm = CONTAINER_OF(t, struct vm, arch.rtc.timer);

    spin_lock(&vm->lock);
    if (vm->arch.rtc.running) { /* false if the alarm was just cleared or the VM stopped */
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
    struct vrtc *r = &vm->arch.rtc;
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
    value = rtc_load(&vm->arch.rtc, offset);
    if (width_log2 == 3) {
        value |= (ulong)rtc_load(&vm->arch.rtc, offset + 4U) << 32;
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

bool vrtc_init(struct vm *vm, gpa_t base)
{
    const struct vdev dev = {.base = base, .size = RTC_SIZE, .widths = 4 | 8, .read = rtc_read, .write = rtc_write};

    timer_init(&vm->arch.rtc.timer, rtc_expired);
    vm->arch.rtc.timer.unlocked = true;
    return vdev_add(&vm->devs, &dev);
}

void vrtc_reset(struct vm *vm)
{
    struct vrtc *r = &vm->arch.rtc;

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
