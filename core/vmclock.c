/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's timer: its watchdog while it runs, and the backoff before a restart while it waits.
 *
 * A watchdog pet only stores the new expiry time. When the timer expires, it is set again if the
 * guest has petted the watchdog since: one interrupt per period, however often the guest pets it.
 */
#include "arch.h"
#include "atomic.h"
#include "hypercall.h"
#include "sched.h"
#include "system.h"
#include "vm.h"

static ticks_t ticks_of(uint32_t ms)
{
    return (ticks_t)ms * 1000U * hyp.us;
}

/* Under sched_lock, in the timer interrupt. */
static void clock_expired(struct timer *t)
{
    struct vm *vm = CONTAINER_OF(t, struct vm, clock.timer);
    ticks_t limit = atomic_load_relaxed(&vm->clock.limit);

    if (vm->state == VM_WAITING) {
        vm_begin(vm);
    } else if (vm->clock.suspended) {
        timer_arm(t, arch_time() + vm->clock.period);
    } else if (limit > arch_time()) {
        timer_arm(t, limit);
    } else {
        vm_stop_locked(vm, VM_REASON_WATCHDOG, true);
        /* runs no other timer first: stopping many VCPUs takes long */
        cpu_self()->flags |= CPU_RESCHED;
    }
}

void vm_clock_init(struct vm *vm)
{
    vm->clock.period = ticks_of(vm->config->watchdog_ms);
    timer_init(&vm->clock.timer, clock_expired);
}

/* Starts a whole watchdog period. */
static void clock_pet(struct vm_clock *clock)
{
    atomic_store_relaxed(&clock->limit, arch_time() + clock->period);
}

void vm_clock_begin(struct vm *vm)
{
    spin_lock(&sched_lock);
    vm->clock.begun = arch_time();
    clock_pet(&vm->clock);
    /* if the VM was stopped in the meantime, vm_clock_stop() disarms it */
    if (vm->clock.period != 0) {
        timer_arm(&vm->clock.timer, vm->clock.limit);
    }
    spin_unlock(&sched_lock);
}

void vm_clock_stop(struct vm *vm)
{
    spin_lock(&sched_lock);
    timer_disarm(&vm->clock.timer);
    spin_unlock(&sched_lock);
}

void vm_suspend_watchdog(struct vm *vm, bool suspend)
{
    vm->clock.suspended = suspend;
    clock_pet(&vm->clock);
}

ticks_t vm_clock_backoff(struct vm *vm)
{
    ticks_t most = ticks_of(vm->config->restart_pause_max_ms), pause = vm->clock.pause;
    bool asked = vm->reason == VM_REASON_CONSOLE;

    if (asked || arch_time() - vm->clock.begun >= ticks_of(VM_LONG_LIFE_MS)) {
        pause = 0;
    }
    pause = pause < most ? pause : most;
    if (asked) {
        vm->clock.pause = 0;
    } else {
        vm->clock.pause = pause == 0 ? ticks_of(VM_FIRST_PAUSE_MS) : 2U * pause;
    }
    return pause;
}

void vm_clock_restart_later(struct vm *vm)
{
    vm->state = VM_WAITING;
    timer_arm(&vm->clock.timer, arch_time() + vm->clock.wait);
}

/* For the guest's own VCPUs only: a VCPU of a component runs before its manager and could hide that
 * the manager hangs. */
struct hcall_ret watchdog_pet(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    const struct vcpu *v = cpu_self()->current;
    struct vm_clock *clock = &v->vm->clock;

    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (clock->period == 0 || v->id >= v->vm->nvcpus) {
        return (struct hcall_ret){HCALL_ERR_DENIED, 0};
    }
    clock_pet(clock);
    return (struct hcall_ret){HCALL_OK, v->vm->config->watchdog_ms};
}
