/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a component takes part in the life of VMs and VCPUs. A component is a folder that the build
 * names (HYP_COMPONENTS); it registers its hypercalls (hypercall.h), scheduling class (sched.h) and
 * the hooks below, each in one line of its own files, and keeps its data itself. core calls what is
 * registered and names no component. A component can also define again a function that core marks
 * COMPONENT_DEFAULT (in console.c, seed.c, component.c): the linker then takes the component's.
 *
 * ON_VM_START, ON_VCPU_START and ON_VCPU_STOP are called with sched_lock held, so they are short
 * and their length does not depend on the number of VMs or VCPUs. Hooks of different components are
 * called in no particular order.
 */
#ifndef COMPONENT_H
#define COMPONENT_H

#include "types.h"

struct vcpu;
struct vm;

typedef const char *component_boot_hook(void);
typedef void component_vm_hook(struct vm *vm);
typedef bool component_vm_stop_hook(struct vm *vm);
typedef void component_vcpu_hook(struct vcpu *v);
typedef void component_cpu_hook(void);

/* At boot, on the boot CPU, once all VMs and VCPUs exist and before any of them runs. Returns NULL
 * or what failed. */
#define ON_BOOT(fn) static component_boot_hook *const fn##_at_boot REGISTER_IN("boot_hooks") = (fn)

/* The next life of the VM begins: its memory is about to be loaded. */
#define ON_VM_START(fn) \
    static component_vm_hook *const fn##_at_vm_start REGISTER_IN("vm_start_hooks") = (fn)

/* The VM's devices get their power-on state; nothing of it runs. Called with vm->lock held, and not
 * sched_lock. */
#define ON_VM_RESET(fn) \
    static component_vm_hook *const fn##_at_vm_reset REGISTER_IN("vm_reset_hooks") = (fn)

/* The VM has stopped: none of its VCPUs runs. Makes what the VM used quiescent, in short steps:
 * called again, after interrupts have been polled, until it returns true. In slices of the VM's
 * VCPU 0, without locks. */
#define ON_VM_STOP(fn) \
    static component_vm_stop_hook *const fn##_at_vm_stop REGISTER_IN("vm_stop_hooks") = (fn)

/* Another CPU has requested IPI_SYNC for the VCPU that ran on this CPU, which may have stopped
 * running since. Without locks. */
#define ON_CPU_SYNC(fn) \
    static component_cpu_hook *const fn##_at_cpu_sync REGISTER_IN("cpu_sync_hooks") = (fn)

/* The VCPU was off, and begins at its entry point. */
#define ON_VCPU_START(fn) \
    static component_vcpu_hook *const fn##_at_vcpu_start REGISTER_IN("vcpu_start_hooks") = (fn)

/* The VCPU, which may not have run, is turned off. */
#define ON_VCPU_STOP(fn) \
    static component_vcpu_hook *const fn##_at_vcpu_stop REGISTER_IN("vcpu_stop_hooks") = (fn)

extern component_boot_hook *const __start_boot_hooks[], *const __stop_boot_hooks[];
extern component_vm_hook *const __start_vm_start_hooks[], *const __stop_vm_start_hooks[];
extern component_vm_hook *const __start_vm_reset_hooks[], *const __stop_vm_reset_hooks[];
extern component_vcpu_hook *const __start_vcpu_start_hooks[], *const __stop_vcpu_start_hooks[];
extern component_vcpu_hook *const __start_vcpu_stop_hooks[], *const __stop_vcpu_stop_hooks[];

static inline const char *components_boot(void)
{
    const char *wrong = NULL;

    for (component_boot_hook *const *boot = __start_boot_hooks;
         boot < __stop_boot_hooks && wrong == NULL; boot++) {
        wrong = (*boot)();
    }
    return wrong;
}

static inline void components_vm_start(struct vm *vm)
{
    for (component_vm_hook *const *vm_start = __start_vm_start_hooks;
         vm_start < __stop_vm_start_hooks; vm_start++) {
        (*vm_start)(vm);
    }
}

static inline void components_vm_reset(struct vm *vm)
{
    for (component_vm_hook *const *vm_reset = __start_vm_reset_hooks;
         vm_reset < __stop_vm_reset_hooks; vm_reset++) {
        (*vm_reset)(vm);
    }
}

/* --- component.c: hooks of rare events, out of line to save space --- */

/* True when every component is done. */
bool components_vm_stop(struct vm *vm);

/* What becomes of a store that has faulted. */
enum write_fault {
    WRITE_REFUSED, /* the guest gets an access fault */
    /* executed again: the page is writable from now on, or the VCPU is suspended until it is */
    WRITE_AGAIN,
    WRITE_DONE, /* done for the guest, which continues behind it */
};

/* The current VCPU has stored the lowest `width` bytes (1, 2, 4 or 8) of `value` to `gpa`, where
 * its VM has no emulated device. Without locks. COMPONENT_DEFAULT: refused. */
enum write_fault component_write_fault(struct vcpu *v, gpa_t gpa, unsigned width, ulong value);

void components_cpu_sync(void);

static inline void components_vcpu_start(struct vcpu *v)
{
    for (component_vcpu_hook *const *vcpu_start = __start_vcpu_start_hooks;
         vcpu_start < __stop_vcpu_start_hooks; vcpu_start++) {
        (*vcpu_start)(v);
    }
}

static inline void components_vcpu_stop(struct vcpu *v)
{
    for (component_vcpu_hook *const *vcpu_stop = __start_vcpu_stop_hooks;
         vcpu_stop < __stop_vcpu_stop_hooks; vcpu_stop++) {
        (*vcpu_stop)(v);
    }
}

#endif
