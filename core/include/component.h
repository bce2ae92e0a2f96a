/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core calls of a component. A component is a folder that the build names (HYP_COMPONENTS).
 * Its file component.c has one COMPONENT, which lists all of the following that it has; core calls
 * what is listed and names no component. A component keeps its data itself.
 *
 * Functions of different components are called in no particular order.
 */
#ifndef COMPONENT_H
#define COMPONENT_H

#include "resource.h"
#include "types.h"

struct console_part;
struct hcall_entry;
struct pci_backends;
struct sched_class;
struct sysimage_header;
struct vcpu;
struct vm;

/* What becomes of a store that has faulted. */
enum write_fault {
    WRITE_REFUSED, /* the guest gets an access fault */
    /* executed again: the page is writable from now on, or the VCPU is suspended until it is */
    WRITE_AGAIN,
    WRITE_DONE, /* done for the guest, which continues behind it */
};

#define COMPONENT_LOAD_STEPS 10U /* of vm_loaded(), for each component */

/* NULL: the component has none. vm_start(), vcpu_start() and vcpu_stop() are called with sched_lock
 * held, so they are short and their length does not depend on the number of VMs or VCPUs. */
struct component {
    const char *name;
    /* Its hypercalls, up to an entry without a function (hypercall.h). */
    const struct hcall_entry *hypercalls;
    /* Its class of VCPUs with priority over best effort. At most one component has one. */
    const struct sched_class *sched;

    /* The firmware's device tree at `tree`, which may be anywhere or unreadable, at boot before
     * translation is enabled. Called first with `image` NULL, before the console is used. */
    void (*boot_tree)(ulong tree, const struct sysimage_header *image);
    /* Stores the machine's seed, and wipes it from the device tree of `size` bytes. False if the
     * tree has none. At boot, after boot_tree(). */
    bool (*boot_seed)(uint8_t *tree, uint32_t size);
    /* Derives key number `number` of SYSIMAGE_SEED_SIZE bytes, for a component's own generator,
     * from the machine's seed: each generator has a number of its own (those below 32 are for
     * devices of VMs). At boot; false if the machine has none. */
    bool (*make_key)(uint32_t *key, uint32_t number);
    /* At boot, on the boot CPU, once all VMs and VCPUs exist and before any of them runs. Returns
     * NULL or what failed. */
    const char *(*boot)(void);
    /* The next life of the VM begins: its memory is about to be loaded. */
    void (*vm_start)(struct vm *vm);
    /* The VM's memory is loaded: step `step` of COMPONENT_LOAD_STEPS of what the component writes
     * to it, at most 400 instructions. Without locks. */
    void (*vm_loaded)(const struct vm *vm, unsigned step);
    /* The VM's devices get their power-on state; nothing of it runs. Called with vm->lock held, and
     * not sched_lock. */
    void (*vm_reset)(struct vm *vm);
    /* The VM has stopped: none of its VCPUs runs. Makes what the VM used quiescent, in short steps:
     * called again, after interrupts have been polled, until it returns true. In slices of the
     * VM's VCPU 0, without locks. */
    bool (*vm_stop)(struct vm *vm);
    /* The VCPU was off, and begins at its entry point. */
    void (*vcpu_start)(struct vcpu *v);
    /* The VCPU, which may not have run, is turned off. */
    void (*vcpu_stop)(struct vcpu *v);
    /* Another CPU has requested IPI_SYNC for the VCPU that ran on this CPU, which may have stopped
     * running since. Without locks. */
    void (*cpu_sync)(void);
    /* The current VCPU has stored the lowest `width` bytes (1, 2, 4 or 8) of `value` to `gpa`,
     * where its VM has no emulated device. Without locks. */
    enum write_fault (*write_fault)(struct vcpu *v, gpa_t gpa, unsigned width, ulong value);
    /* How long a job of a VM on one of its resources takes at most (resource.h). */
    resource_bound_fn *resource_bound;
    /* Keys and lists for the operator (console_keys.h). */
    const struct console_part *console;
    /* What is behind functions of the virtual PCI bus (pci_backends.h). */
    const struct pci_backends *pci;
};

/* In the component's component.c: COMPONENT(ipc, .boot = ipc_boot, .hypercalls = calls). */
#define COMPONENT(id, ...)                                                                 \
    static const struct component id##_component REGISTER_IN("components") = {.name = #id, \
                                                                              __VA_ARGS__}

extern const struct component __start_components[], __stop_components[];

#define FOR_EACH_COMPONENT(c) \
    for (const struct component *c = __start_components; c != __stop_components; c++)

/* For functions that are called often, the components that have one; each list ends with NULL. */
struct component_users {
    const struct component *vcpu_start[COMPONENTS + 1U];
    const struct component *vcpu_stop[COMPONENTS + 1U];
    const struct component *write_fault[COMPONENTS + 1U];
};
extern struct component_users component_users; /* owner: components_boot() */

static inline void components_vcpu_start(struct vcpu *v)
{
    for (unsigned i = 0; component_users.vcpu_start[i] != NULL; i++) {
        component_users.vcpu_start[i]->vcpu_start(v);
    }
}

static inline void components_vcpu_stop(struct vcpu *v)
{
    for (unsigned i = 0; component_users.vcpu_stop[i] != NULL; i++) {
        component_users.vcpu_stop[i]->vcpu_stop(v);
    }
}

/* The answer of the first component that does not refuse. */
static inline enum write_fault components_write_fault(struct vcpu *v, gpa_t gpa, unsigned width,
                                                      ulong value)
{
    enum write_fault fault = WRITE_REFUSED;

    for (unsigned i = 0; component_users.write_fault[i] != NULL && fault == WRITE_REFUSED; i++) {
        fault = component_users.write_fault[i]->write_fault(v, gpa, width, value);
    }
    return fault;
}

/* --- component.c: rare events, out of line to save space --- */

void components_boot_tree(ulong tree, const struct sysimage_header *image);

/* The answer of the first component that does not refuse. */
bool components_boot_seed(uint8_t *tree, uint32_t size);
bool components_make_key(uint32_t *key, uint32_t number);

/* NULL, or what failed. */
const char *components_boot(void);

void components_vm_start(struct vm *vm);
void components_vm_loaded(const struct vm *vm, unsigned step);
void components_vm_reset(struct vm *vm);

/* True when every component is done. */
bool components_vm_stop(struct vm *vm);

void components_cpu_sync(void);

#endif
