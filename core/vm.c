/* SPDX-License-Identifier: Apache-2.0 */
/* The lifecycle of a VM. vmload.c fills its memory; vmclock.c has its watchdog and the backoff
 * before a restart. */
#include "vm.h"

#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "console.h"
#include "cpu.h"
#include "platform.h"
#include "sched.h"
#include "system.h"

/* Whether a guest's memory map covers a device that the hypervisor drives itself. */
static bool vm_covers_hypervisor_device(const struct vm *vm)
{
    const struct platform_device driven[] = {platform.uart, platform.irqchip, platform.finisher};
    bool has = false;

    for (unsigned i = 0; i < sizeof(driven) / sizeof(driven[0]); i++) {
        has = has ||
              (driven[i].size != 0 && memmap_covers(&vm->memmap, driven[i].base, driven[i].size));
    }
    return has;
}

const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config,
                    struct vcpu *vcpus)
{
    vm->id = id;
    vm->config = config;
    vm->vcpus = vcpus;
    vm->nvcpus = config->nvcpus;
    vm->total = sysimage_vcpus(config);
    vm->memmap.regions = sysimage_at(hyp.image, config->regions_offset);
    vm->memmap.count = config->nregions;
    for (unsigned i = 0; i < vm->total; i++) {
        vcpus[i].vm = vm;
        vcpus[i].id = i;
        vcpus[i].trace_id = id << 8 | i << 16;
        vcpus[i].last_cpu = VCPU_NO_CPU;
        list_init(&vcpus[i].node);
        timer_init(&vcpus[i].timer, vcpu_timer_expired);
    }
    vm_clock_init(vm);
    if (config->uart != 0 && !vuart_init(vm, (gpa_t)config->uart)) {
        return "too many emulated devices";
    }
    return vm_covers_hypervisor_device(vm) ? "a guest's device is the hypervisor's"
                                           : arch_vm_init(vm);
}

/* The slices of VCPU 0, which is on no CPU, are spent on `work` from here on. */
static void vm_begin_work(struct vm *vm, const struct vcpu_work *work)
{
    struct vcpu *v = &vm->vcpus[0];

    sched_remove(v);
    vm->stage = 0;
    vm->stage_done = 0;
    v->work = work;
    v->request = VCPU_REQ_WORK;
    sched_wake(v);
}

static bool vm_loaded(struct vcpu *v)
{
    v->vm->state = VM_RUNNING;
    v->request = 0;
    components_vcpu_start(v); /* not before: loading discards what was raised */
    return true;
}

static const struct vcpu_work vm_loading = {vm_load_step, vm_loaded};
static const struct vcpu_work vm_stopping;

void vm_begin(struct vm *vm)
{
    timer_disarm(&vm->clock.timer);
    vm->state = VM_LOADING;
    vm->on = 1;
    vm->starts++;
    components_vm_start(vm);
    vm_begin_work(vm, &vm_loading);
}

bool vm_start(struct vm *vm)
{
    bool starts;

    spin_lock(&sched_lock);
    starts = vm->state == VM_STOPPED || vm->state == VM_WAITING;
    if (starts) {
        vm->clock.pause = 0; /* the operator has started it: no backoff */
        vm_begin(vm);
    } else if (vm->state == VM_STOPPING) { /* its stop may have been reported already */
        starts = !vm->restart;
        vm->restart = true;
    }
    spin_unlock(&sched_lock);
    return starts;
}

void vm_vcpu_turned_off(struct vcpu *v)
{
    struct vm *vm = v->vm;

    vm->on--;
    if (vm->on == 0 && vm->state != VM_STOPPING) {
        vm->state = VM_STOPPING;
        vm->reason = VM_REASON_OFF;
        vm->restart = false;
    }
    if (vm->on == 0) {
        vm_begin_work(vm, &vm_stopping);
    }
}

/* Has the VCPU, which runs, leave its CPU with the next exit. */
static void vm_recall(const struct vcpu *v)
{
    cpu_kick(v->cpu, IPI_RESCHED);
}

/* Requests that all VCPUs turn off. From here on vm->on counts those that run, and so have to leave
 * their CPU first; the last one begins the work of stopping. The others, of which there may be
 * many, are held when they are picked, and removed by vm_stop_step(). */
static void vm_halt(struct vm *vm)
{
    const struct vcpu *end = &vm->vcpus[vm->total];
    unsigned on = 0;

    for (struct vcpu *v = vm->vcpus; v < end; v++) {
        atomic_or_relaxed(&v->request, VCPU_REQ_OFF); /* its CPU may set a bit at the same time */
        if (v->state == VCPU_RUNNING) {
            on++;
            vm_recall(v);
        }
    }
    vm->on = on;
    if (on == 0) {
        vm_begin_work(vm, &vm_stopping);
    }
}

bool vm_stop_locked(struct vm *vm, enum vm_reason reason, bool restart)
{
    bool stops = vm->state == VM_RUNNING || vm->state == VM_LOADING || vm->state == VM_WAITING;

    /* The operator's request holds also while the VM stops: otherwise a guest that resets without
     * end would override it. */
    if (stops ||
        (vm->state == VM_STOPPING && reason == VM_REASON_CONSOLE && vm->restart != restart)) {
        vm->reason = reason;
        vm->restart = restart;
    }
    if (stops) {
        vm->state = VM_STOPPING;
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

    /* Of several VCPUs that fail at the same time the first is reported. */
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
        [VM_REASON_FAILURE] = "by its own failure",
        [VM_REASON_PAYLOAD] = "because a payload is damaged",
    };

    return names[reason];
}

/* Prints line `line` of the report of a fatal trap, with the registers. False if there is no such
 * line. */
static bool report_fault(const struct vm *vm, unsigned line)
{
    const struct vm_fault *f = &vm->fault;

    if (vm->reason != VM_REASON_FATAL) {
        return false;
    }
    if (line > 0) {
        return arch_vcpu_report(f->vcpu, line - 1);
    }
    console_log("%s vcpu %u: %s: cause %lu (%s), address 0x%lx", vm->config->name, f->vcpu->id,
                f->what, f->cause, arch_cause_name(f->cause), (ulong)f->address);
    return true;
}

/* Prints the last line: why the VM has stopped, and whether it restarts. */
static void report_stop(struct vm *vm)
{
    /* before the reason: the operator may change both at the same time */
    bool restart = vm->restart;
    const char *name = vm->config->name, *reason = vm_reason_name(vm->reason);
    ticks_t pause = restart ? vm_clock_backoff(vm) : 0;

    vm->restart_reported = restart;
    vm->clock.wait = pause;
    if (pause != 0) {
        console_log("%s stopped %s, starts again in %lu ms", name, reason,
                    (ulong)(pause / (1000U * hyp.us)));
    } else {
        console_log("%s stopped %s%s", name, reason, restart ? ", starts again" : "");
    }
}

/* For every VCPU but the first, also one that never ran. */
static void end_vcpu(struct vcpu *v)
{
    spin_lock(&sched_lock);
    sched_remove(v);
    spin_unlock(&sched_lock);
}

/* One step; true if it was the last. Interrupts are polled between steps. */
OWN_SYMBOL static bool end_stage(struct vm *vm)
{
    unsigned stage = vm->stage + 1;

    vm->stage = stage;
    if (stage < vm->total) {
        end_vcpu(&vm->vcpus[stage]);
    } else if (stage == vm->total) {
        if (!components_vm_stop(vm)) {
            vm->stage--; /* again */
            return false;
        }
        vm_clock_stop(vm);
        vm_quiesce_devices(vm);
        console_end(vm);
    } else if (!report_fault(vm, stage - vm->total - 1)) {
        report_stop(vm);
        return true;
    }
    return false;
}

/* Of a VM that has stopped: removes its VCPUs, resets its devices, reports on the console why it
 * has stopped. */
static bool vm_stop_step(struct vm *vm)
{
    while (!arch_irq_pending()) {
        if (end_stage(vm)) {
            return true;
        }
    }
    return false;
}

/* Under sched_lock: every VM is stopped for good. */
static bool vm_all_stopped(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (hyp.vms[i].state != VM_STOPPED) {
            return false;
        }
    }
    return true;
}

/* The machine is switched off with the last VM, if that has shut down, as its guest would have done
 * without a hypervisor. Called under sched_lock. */
static void vm_power_off_with_last(const struct vm *vm)
{
    if (vm->reason == VM_REASON_SHUTDOWN && vm_all_stopped()) {
        spin_unlock(&sched_lock);
        console_log("all VMs are stopped: power off");
        console_drain();
        arch_shutdown(false);
    }
}

/* The stop is reported: the VM stays stopped, waits for its next life or begins it, and counts as
 * stopped at no moment in between. */
static void vm_finish_stop(struct vm *vm)
{
    if (!vm->restart) {
        vm->state = VM_STOPPED;
        vm_power_off_with_last(vm);
        return;
    }
    vm->restart = false;
    vm->restarts++;
    vm->restarted = vm->reason;
    if (vm->clock.wait != 0) {
        vm_clock_restart_later(vm);
    } else {
        vm_begin(vm);
    }
}

static bool vm_stopped(struct vcpu *v)
{
    struct vm *vm = v->vm;

    if (vm->restart != vm->restart_reported) {
        vm->stage--; /* the operator has changed it since: another report */
        return true;
    }
    v->request = 0;
    v->state = VCPU_OFF;
    vm_finish_stop(vm);
    return false;
}

static const struct vcpu_work vm_stopping = {vm_stop_step, vm_stopped};

void vm_raise(struct vm *vm, ulong vcpus, ulong bits)
{
    cpu_gather_kicks();
    for (struct vcpu *v = vm->vcpus; vcpus != 0; v++, vcpus >>= 1) {
        if ((vcpus & 1U) != 0) {
            spin_lock(&sched_lock); /* once per VCPU, so that other CPUs get it in between */
            vcpu_raise_locked(v, bits);
            spin_unlock(&sched_lock);
        }
    }
    cpu_end_kicks();
}

void vm_unlock(struct vm *vm)
{
    ulong raised = arch_vm_raised(&vm->arch);

    spin_unlock(&vm->lock);
    if (raised != 0) {
        vm_raise(vm, raised, 0);
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
