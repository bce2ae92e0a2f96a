/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system made in memory for tests: a valid system image, the hypervisor's core set up from it over arch/host, and
 * functions to make things happen and to look whether all is still well. Flat arguments, so that Python can call it.
 */
#ifndef TESTBED_H
#define TESTBED_H

#include "sysimage.h"
#include "system.h"

#define TESTBED_VM_RAM UINT64_C(0x200000)
#define TESTBED_GPA UINT64_C(0x80000000)
#define TESTBED_PAYLOAD UINT64_C(0x1122334455667788) /* the first 8 bytes of every VM's RAM once it is loaded */
#define TESTBED_TICKS_PER_US 10U

/* The image that the next testbed_boot() takes, for tests that want to spoil or change it; valid as it is. */
struct testbed_image {
    struct sysimage_header header;
    struct sysimage_vm vms[SYSIMAGE_MAX_VMS];
    struct sysimage_region regions[SYSIMAGE_MAX_VMS];
    struct sysimage_load loads[SYSIMAGE_MAX_VMS];
    struct sysimage_fixup fixups[SYSIMAGE_MAX_VMS];
};

/* Makes a valid image: `nvms` VMs, VM i with nvcpus[i] VCPUs and 2 MiB of RAM, none of them started by itself. */
struct testbed_image *testbed_image_make(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us);

/* Of an image that testbed_image_make() has made, in which no VM has a watchdog and none pauses; seals it. */
void testbed_image_watchdog(struct testbed_image *image, unsigned vm, unsigned watchdog_ms,
                            unsigned restart_pause_max_ms);

/* Flips bits of a byte of the payload that all VMs of the image share. */
void testbed_image_damage(unsigned byte, unsigned char flip);

/* Puts the right checksum into the image. */
void testbed_image_seal(struct testbed_image *image);

/* What sysimage_check() says of the image, NULL if nothing. */
const char *testbed_image_check(const struct testbed_image *image);

/* Makes, checks and boots such a system; all CPUs run their scheduler once and sleep. False if core refused. */
bool testbed_boot(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us);

/* The same with an image that testbed_image_make() has made, and somebody has changed and sealed. */
bool testbed_boot_image(struct testbed_image *image);

/* The same with any image that sysimage_check() has let through. */
bool testbed_boot_checked(const struct sysimage_header *header);

/* CPU `cpu` enters the hypervisor: what it was about to do before is done. All that follow call it first. */
void testbed_enter(unsigned cpu);

/* What can happen, on CPU `cpu`. */
bool testbed_vm_start(unsigned cpu, unsigned vm);
bool testbed_vm_stop(unsigned cpu, unsigned vm, bool restart);
bool testbed_vcpu_start(unsigned cpu, unsigned vm, unsigned vcpu);
void testbed_raise(unsigned cpu, unsigned vm, unsigned vcpu);
void testbed_wait(unsigned cpu);                /* its VCPU executes WFI */
void testbed_yield(unsigned cpu);               /* its VCPU gives up its turn */
void testbed_wait_until(unsigned cpu, ticks_t); /* the same, its own timer set */
void testbed_off(unsigned cpu);                 /* its VCPU turns itself off */
void testbed_guest_ends(unsigned cpu, bool restart);
void testbed_guest_faults(unsigned cpu);
void testbed_suspend_watchdog(unsigned cpu, unsigned vm, bool suspend);

/* The VCPU that runs on `cpu` makes one hypercall, by the table that guests' calls take. Returns its error and, if value
 * is not NULL, its value. */
#define TESTBED_NO_CALLER 1000L /* no VCPU runs on that CPU */
long testbed_hypercall(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* Bytes of a VM's memory. testbed_wrong_settled() does not look at TESTBED_GPA + 0x100 .. 0x6ff. */
void *testbed_memory(unsigned vm, gpa_t gpa);

/* From now on the hypervisor takes time, in ticks: see host_costs. `deaf`: for so long a guest that is no RT app, or an app
 * whose jobs do not end, has been in the hypervisor, which does not look at interrupts, whenever one comes. */
void testbed_costs(ticks_t enter, ticks_t look, ticks_t leave, ticks_t deaf);

/* Time goes on; nothing else happens. */
void testbed_advance(ticks_t ticks);

/* CPUs that have an interrupt pending or something to do take their turn until none has. False if that never ends. */
bool testbed_settle(void);

/* What is wrong with a heap that has `room` for so many nodes, or NULL. */
const char *heap_wrong(struct heap_node *const *nodes, unsigned count, unsigned room);

/* The first thing that is not as it must be at any time, NULL if there is none. */
const char *testbed_wrong(void);

/* The same for what must hold once testbed_settle() has returned. */
const char *testbed_wrong_settled(void);

/* Looking. States are those of enum vcpu_state and enum vm_state. */
unsigned testbed_vcpu_state(unsigned vm, unsigned vcpu);
unsigned testbed_vm_state(unsigned vm);
unsigned testbed_vm_starts(unsigned vm);
unsigned testbed_vm_restarts(unsigned vm);
ticks_t testbed_runtime(unsigned vm, unsigned vcpu);
ulong testbed_raised(unsigned vm, unsigned vcpu); /* guest interrupts that it was sent since last asked */
unsigned testbed_kicks(unsigned cpu);             /* interrupts by other CPUs that it has yet to take */
int testbed_on_cpu(unsigned cpu);                 /* 100 * VM + VCPU, or -1 */

#endif
