/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system made in memory for tests: a valid system image, the hypervisor's core set up from it over arch/host, and
 * functions to make things happen and to look whether all is still well. Flat arguments, so that Python can call it.
 */
#ifndef WORLD_H
#define WORLD_H

#include "sysimage.h"
#include "system.h"

#define WORLD_VM_RAM UINT64_C(0x200000)
#define WORLD_GPA UINT64_C(0x80000000)
#define WORLD_PAYLOAD UINT64_C(0x1122334455667788) /* the first 8 bytes of every VM's RAM once it is loaded */
#define WORLD_TICKS_PER_US 10U

/* The image that the next world_boot() takes, for tests that want to spoil or change it; valid as it is. */
struct world_image {
    struct sysimage_header header;
    struct sysimage_vm vms[SYSIMAGE_MAX_VMS];
    struct sysimage_region regions[SYSIMAGE_MAX_VMS];
    struct sysimage_load loads[SYSIMAGE_MAX_VMS];
    struct sysimage_fixup fixups[SYSIMAGE_MAX_VMS];
};

/* Makes a valid image: `nvms` VMs, VM i with nvcpus[i] VCPUs and 2 MiB of RAM, none of them started by itself. */
struct world_image *world_image_make(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us);

/* Of an image that world_image_make() has made, in which no VM has a watchdog and none pauses; seals it. */
void world_image_watchdog(struct world_image *image, unsigned vm, unsigned watchdog_ms, unsigned restart_pause_max_ms);

/* Flips bits of a byte of the payload that all VMs of the image share. */
void world_image_damage(unsigned byte, unsigned char flip);

/* Puts the right checksum into the image. */
void world_image_seal(struct world_image *image);

/* What sysimage_check() says of the image, NULL if nothing. */
const char *world_image_check(const struct world_image *image);

/* Makes, checks and boots such a system; all CPUs run their scheduler once and sleep. False if core refused. */
bool world_boot(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us);

/* The same with an image that world_image_make() has made, and somebody has changed and sealed. */
bool world_boot_image(struct world_image *image);

/* The same with any image that sysimage_check() has let through. */
bool world_boot_checked(const struct sysimage_header *header);

/* CPU `cpu` enters the hypervisor: what it was about to do before is done. All that follow call it first. */
void world_enter(unsigned cpu);

/* What can happen, on CPU `cpu`. */
bool world_vm_start(unsigned cpu, unsigned vm);
bool world_vm_stop(unsigned cpu, unsigned vm, bool restart);
bool world_vcpu_start(unsigned cpu, unsigned vm, unsigned vcpu);
void world_raise(unsigned cpu, unsigned vm, unsigned vcpu);
void world_wait(unsigned cpu);                /* its VCPU executes WFI */
void world_yield(unsigned cpu);               /* its VCPU gives up its turn */
void world_wait_until(unsigned cpu, ticks_t); /* the same, its own timer set */
void world_off(unsigned cpu);                 /* its VCPU turns itself off */
void world_guest_ends(unsigned cpu, bool restart);
void world_guest_faults(unsigned cpu);
void world_suspend_watchdog(unsigned cpu, unsigned vm, bool suspend);

/* The VCPU that runs on `cpu` makes one hypercall, by the table that guests' calls take. Returns its error and, if value
 * is not NULL, its value. */
#define WORLD_NO_CALLER 1000L /* no VCPU runs on that CPU */
long world_hypercall(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* Bytes of a VM's memory. world_wrong_settled() does not look at WORLD_GPA + 0x100 .. 0x6ff. */
void *world_memory(unsigned vm, gpa_t gpa);

/* From now on the hypervisor takes time, in ticks: see host_costs. `deaf`: for so long a guest that is no RT app, or an app
 * whose jobs do not end, has been in the hypervisor, which does not look at interrupts, whenever one comes. */
void world_costs(ticks_t enter, ticks_t look, ticks_t leave, ticks_t deaf);

/* Time goes on; nothing else happens. */
void world_advance(ticks_t ticks);

/* CPUs that have an interrupt pending or something to do take their turn until none has. False if that never ends. */
bool world_settle(void);

/* What is wrong with a heap that has `room` for so many nodes, or NULL. */
const char *heap_wrong(struct heap_node *const *nodes, unsigned count, unsigned room);

/* The first thing that is not as it must be at any time, NULL if there is none. */
const char *world_wrong(void);

/* The same for what must hold once world_settle() has returned. */
const char *world_wrong_settled(void);

/* Looking. States are those of enum vcpu_state and enum vm_state. */
unsigned world_vcpu_state(unsigned vm, unsigned vcpu);
unsigned world_vm_state(unsigned vm);
unsigned world_vm_starts(unsigned vm);
unsigned world_vm_restarts(unsigned vm);
ticks_t world_runtime(unsigned vm, unsigned vcpu);
ulong world_raised(unsigned vm, unsigned vcpu); /* guest interrupts that it was sent since last asked */
unsigned world_kicks(unsigned cpu);             /* interrupts by other CPUs that it has yet to take */
int world_on_cpu(unsigned cpu);                 /* 100 * VM + VCPU, or -1 */

#endif
