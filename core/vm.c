/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a VM. vmload.c fills its memory; vmclock.c is about its watchdog and the pauses between its lives. */
#include "vm.h"

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "sched.h"
#include "system.h"

const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config, struct vcpu *vcpus)
{
    vm->id = id;
    vm->config = config;
    vm->vcpus = vcpus;
    vm->nvcpus = config->nvcpus;
    vm->total = config->nvcpus + config->rt_apps;
    vm->memmap.regions = sysimage_at(hyp.image, config->regions_offset);
    vm->memmap.count = config->nregions;
    for (unsigned i = 0; i < vm->total; i++) {
        vcpus[i].vm = vm;
        vcpus[i].id = i;
        vcpus[i].trace_id = id << 8 | i << 16;
        vcpus[i].last_cpu = VCPU_NO_CPU;
        vcpus[i].inbox.by_line = i == 0 && config->message_irq != 0;
        vcpus[i].inbox.sender = (ulong)id << 16 | (ulong)i << 24;
        list_init(&vcpus[i].node);
        timer_init(&vcpus[i].timer, vcpu_timer_expired);
    }
    vm_clock_init(vm);
    if (config->uart != 0 && !vuart_init(vm, (gpa_t)config->uart)) {
        return "too many emulated devices";
    }
    return arch_vm_init(vm);
}

void vm_begin(struct vm *vm)
{
    struct vcpu *boot = &vm->vcpus[0];

    timer_disarm(&vm->clock.timer);
    vm->state = VM_LOADING;
    vm->load_stage = 0;
    vm->load_done = 0;
    vm->on = 1;
    vm->starts++;
    arch_vcpu_reset(boot, (ulong)vm->config->entry, (ulong)vm->config->dtb);
    boot->request = VCPU_REQ_LOAD;
    vm->doorbells = 0;
    sched_wake(boot);
}

bool vm_start(struct vm *vm)
{
    bool stopped;

    spin_lock(&sched_lock);
    stopped = (vm->state == VM_STOPPED || vm->state == VM_WAITING) && vm->report == VM_REPORT_NONE;
    if (stopped) {
        vm->clock.pause = 0; /* somebody has had a look at it */
        vm_begin(vm);
    }
    spin_unlock(&sched_lock);
    return stopped;
}

static bool vm_runs(const struct vm *vm)
{
    for (unsigned i = 0; i < vm->total; i++) {
        if (vm->vcpus[i].state == VCPU_RUNNING) {
            return true;
        }
    }
    return false;
}

/* Stopped, once nothing of the VM runs any more. */
static void vm_settle(struct vm *vm)
{
    if (!vm_runs(vm)) {
        for (unsigned i = vm->nvcpus; i < vm->total; i++) { /* also apps that were never launched */
            sched_remove(&vm->vcpus[i]);
        }
        timer_disarm(&vm->clock.timer);
        vm->state = VM_STOPPED;
        vm->on = 0;
        vm->report = VM_REPORT_DUE;
    }
}

void vm_vcpu_left(struct vm *vm)
{
    vm->on--;
    if (vm->state != VM_STOPPING && vm->on == 0) {
        vm->state = VM_STOPPING;
        vm->reason = VM_REASON_OFF;
        vm->restart = false;
    }
    if (vm->state == VM_STOPPING) {
        vm_settle(vm);
    }
}

/* Every VCPU that is not running is turned off here; one that runs is told to leave. */
static void vm_halt(struct vm *vm)
{
    struct cpu *self = cpu_self();

    for (unsigned i = 0; i < vm->total; i++) {
        struct vcpu *v = &vm->vcpus[i];

        if (v->state != VCPU_RUNNING) {
            sched_remove(v);
            continue;
        }
        __atomic_fetch_or(&v->request, VCPU_REQ_OFF, __ATOMIC_RELAXED); /* its CPU may be adding a bit of its own */
        if (v->cpu != self) {
            cpu_kick(v->cpu, IPI_RESCHED);
        } else {
            self->flags |= CPU_RESCHED;
        }
    }
    vm_settle(vm);
}

bool vm_stop_locked(struct vm *vm, enum vm_reason reason, bool restart)
{
    bool stops = vm->state == VM_RUNNING || vm->state == VM_LOADING || vm->state == VM_WAITING;

    if (stops) {
        vm->state = VM_STOPPING;
        vm->reason = reason;
        vm->restart = restart;
        vm_halt(vm);
    }
    return stops;
}

bool vm_stop(struct vm *vm, enum vm_reason reason, bool restart)
{
    bool stops;

    spin_lock(&sched_lock);
    stops = vm_stop_locked(vm, reason, restart);
    spin_unlock(&sched_lock);
    return stops;
}

void vm_fatal(struct vcpu *v, const char *what, ulong cause, gpa_t address)
{
    struct vm *vm = v->vm;

    /* The first of several VCPUs that fail at the same time is the one reported. */
    if (vm_stop(vm, VM_REASON_FATAL, (vm->config->flags & SYSIMAGE_VM_RESTART_FATAL) != 0)) {
        vm->fault = (struct vm_fault){v, what, cause, address};
    }
}

const char *vm_reason_name(enum vm_reason reason)
{
    static const char *const names[] = {
        [VM_REASON_NONE] = "",
        [VM_REASON_CONSOLE] = "by the console",
        [VM_REASON_SHUTDOWN] = "by its own shutdown",
        [VM_REASON_RESET] = "by its own reset",
        [VM_REASON_OFF] = "because its last VCPU turned itself off",
        [VM_REASON_FATAL] = "by a fatal trap",
        [VM_REASON_WATCHDOG] = "by its watchdog",
    };

    return names[reason];
}

/* Under sched_lock: every VM is stopped for good, none is still being told of or about to start again. */
static bool vm_all_stopped(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (hyp.vms[i].state != VM_STOPPED || hyp.vms[i].report != VM_REPORT_NONE) {
            return false;
        }
    }
    return true;
}

/* A machine whose last guest has shut down is switched off, as the guest would have done without us. */
static void vm_power_off(void)
{
    bool all;

    spin_lock(&sched_lock);
    all = vm_all_stopped();
    spin_unlock(&sched_lock);
    if (!all) {
        return;
    }
    console_log("all VMs are stopped: power off");
    console_drain();
    arch_shutdown(false);
}

/* Why the VM has stopped, and what comes next, with its registers if a trap was the reason. */
static void vm_tell(const struct vm *vm, ticks_t pause)
{
    const char *name = vm->config->name, *reason = vm_reason_name(vm->reason);
    const struct vm_fault *f = &vm->fault;

    if (vm->reason == VM_REASON_FATAL) {
        console_log("%s vcpu %u: %s: cause %lu (%s), address 0x%lx", name, f->vcpu->id, f->what, f->cause,
                    arch_cause_name(f->cause), (ulong)f->address);
        arch_vcpu_report(f->vcpu);
    }
    if (pause != 0) {
        console_log("%s stopped %s, starts again in %lu ms", name, reason, (ulong)(pause / (1000U * hyp.us)));
    } else {
        console_log("%s stopped %s%s", name, reason, vm->restart ? ", starts again" : "");
    }
}

/* Under sched_lock: told of, the VM goes on as it shall, with no moment in between in which it would count as stopped. */
static void vm_go_on(struct vm *vm, ticks_t pause)
{
    vm->report = VM_REPORT_NONE;
    if (!vm->restart) {
        return;
    }
    vm->restart = false;
    vm->restarts++;
    vm->restarted = vm->reason;
    if (pause != 0) {
        vm_clock_wait(vm, pause);
    } else {
        vm_begin(vm);
    }
}

void vm_conclude(struct vm *vm)
{
    bool mine, off;
    ticks_t pause;

    spin_lock(&sched_lock);
    mine = vm->report == VM_REPORT_DUE;
    vm->report = mine ? VM_REPORT_BEING_TOLD : vm->report;
    spin_unlock(&sched_lock);
    if (!mine) {
        return;
    }
    vm_quiet_devices(vm);
    pause = vm->restart ? vm_clock_pause(vm) : 0;
    vm_tell(vm, pause);
    spin_lock(&sched_lock);
    off = !vm->restart && vm->reason == VM_REASON_SHUTDOWN;
    vm_go_on(vm, pause);
    spin_unlock(&sched_lock);
    if (off) {
        vm_power_off();
    }
}

void vm_conclude_all(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        vm_conclude(&hyp.vms[i]);
    }
}

const char *vm_state_name(const struct vm *vm)
{
    static const char *const names[] = {
        [VM_STOPPED] = "stopped",   [VM_LOADING] = "loading", [VM_RUNNING] = "running",
        [VM_STOPPING] = "stopping", [VM_WAITING] = "waiting",
    };

    return names[vm->state];
}
