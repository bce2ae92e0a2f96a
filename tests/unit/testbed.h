/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system in memory for tests: a valid system image, core booted from it over arch/host, functions
 * that cause events, and functions that check invariants. Arguments are scalars, so that Python can
 * call the functions.
 */
#ifndef TESTBED_H
#define TESTBED_H

#include "sysimage.h"
#include "system.h"

#define TESTBED_VM_RAM UINT64_C(0x200000)
#define TESTBED_GPA UINT64_C(0x80000000)
/* the first 8 bytes of every VM's RAM after loading */
#define TESTBED_PAYLOAD UINT64_C(0x1122334455667788)
#define TESTBED_TICKS_PER_US 10U
#define TESTBED_STREAMS 22U
#define TESTBED_STREAM_WORDS 36U /* of 8 bytes */
#define TESTBED_SECTIONS 2U
#define TESTBED_TAG 0x41544144U /* of the first section; the second has the next number */

/* The tables of the image, for tests that change them before testbed_boot_image(). */
struct testbed_image {
    struct sysimage_header header;
    struct sysimage_vm vms[SYSIMAGE_MAX_VMS];
    struct sysimage_region regions[SYSIMAGE_MAX_VMS];
    struct sysimage_load loads[SYSIMAGE_MAX_VMS];
    struct sysimage_fixup fixups[SYSIMAGE_MAX_VMS];
    struct sysimage_section sections[TESTBED_SECTIONS];
    uint64_t section_data[TESTBED_SECTIONS]; /* section i holds TESTBED_TAG + i */
    uint64_t room[640];                      /* for sections of a test */
    /* for bitstreams of a test, with their tags */
    uint64_t streams[TESTBED_STREAMS][TESTBED_STREAM_WORDS];
};

/* Makes a valid image: `nvms` VMs, VM i with nvcpus[i] VCPUs and 2 MiB of RAM, none of them started
 * at boot. */
struct testbed_image *testbed_image_make(unsigned ncpus, unsigned nvms, const unsigned *nvcpus,
                                         unsigned quantum_us);

/* Sets a VM's watchdog period and maximum backoff in an image of testbed_image_make(), whose
 * defaults are none; seals the image. */
void testbed_image_watchdog(struct testbed_image *image, unsigned vm, unsigned watchdog_ms,
                            unsigned restart_pause_max_ms);

/* Flips bits of a byte of the payload, which all VMs of the image share. */
void testbed_image_damage(unsigned byte, unsigned char flip);

/* Updates the image's checksum. */
void testbed_image_seal(struct testbed_image *image);

/* The error of sysimage_check() for the image, NULL if it is valid. */
const char *testbed_image_check(const struct testbed_image *image);

/* Makes, checks and boots such a system; each CPU runs the scheduler once and sleeps. False if core
 * refuses the image. */
bool testbed_boot(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us);

/* testbed_boot() with an image of testbed_image_make() that the test has changed and sealed. */
bool testbed_boot_image(struct testbed_image *image);

/* testbed_boot() with any image that sysimage_check() accepts. */
bool testbed_boot_checked(const struct sysimage_header *header);

/* CPU `cpu` enters the hypervisor, after completing a pending request to wait. All functions below
 * call this first. */
void testbed_enter(unsigned cpu);

/* Events on CPU `cpu`. */
bool testbed_vm_start(unsigned cpu, unsigned vm);
bool testbed_vm_stop(unsigned cpu, unsigned vm, bool restart);
bool testbed_vcpu_start(unsigned cpu, unsigned vm, unsigned vcpu);
void testbed_raise(unsigned cpu, unsigned vm, unsigned vcpu);
void testbed_wait(unsigned cpu);                /* the VCPU executes WFI */
void testbed_yield(unsigned cpu);               /* the VCPU yields the rest of its slice */
void testbed_wait_until(unsigned cpu, ticks_t); /* the VCPU sets its timer and executes WFI */
void testbed_off(unsigned cpu);                 /* the VCPU turns itself off */
/* calls of vm_stop() that the VM's next stop needs */
void testbed_stop_steps(unsigned vm, unsigned);
unsigned testbed_stop_steps_left(unsigned vm);
void testbed_suspend(unsigned cpu); /* a component suspends the VCPU */
void testbed_resume(unsigned cpu, unsigned vm, unsigned vcpu);
/* CPU `cpu` requests IPI_SYNC of CPU `other`. */
void testbed_request_sync(unsigned cpu, unsigned other);
void testbed_guest_ends(unsigned cpu, bool restart);
void testbed_guest_faults(unsigned cpu);
void testbed_suspend_watchdog(unsigned cpu, unsigned vm, bool suspend);

/* The VCPU that runs on `cpu` makes a hypercall through the dispatch table. Returns its error and,
 * in *value unless value is NULL, its value. */
#define TESTBED_NO_CALLER 1000L /* no VCPU runs on that CPU */
long testbed_hypercall(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* A VM's memory at a guest-physical address. testbed_idle_violation() does not check TESTBED_GPA +
 * 0x100 .. 0x6ff. */
void *testbed_memory(unsigned vm, gpa_t gpa);

/* Sets the time in ticks that the hypervisor takes from now on (host_costs). `blocked`: length of
 * the non-preemptible section that precedes each interrupt of a guest other than an RT app whose
 * jobs end. */
void testbed_costs(ticks_t enter, ticks_t look, ticks_t leave, ticks_t blocked);

/* Advances the time only. */
void testbed_advance(ticks_t ticks);

/* Runs all CPUs with a pending interrupt or request until no CPU has one. False if this does not
 * terminate. */
bool testbed_run_until_idle(void);

/* The violated invariant of a heap with a capacity of `max` nodes, or NULL. */
const char *heap_violation(struct heap_node *const *nodes, unsigned count, unsigned max);

/* The first violated invariant among those that hold at any time, or NULL. */
const char *testbed_violation(void);

/* The same, including invariants that hold after testbed_run_until_idle(). */
const char *testbed_idle_violation(void);

/* Queries. States are those of enum vcpu_state and enum vm_state. */
unsigned testbed_vcpu_state(unsigned vm, unsigned vcpu);
unsigned testbed_vm_state(unsigned vm);
unsigned testbed_vm_starts(unsigned vm);
bool testbed_vm_starts_again(unsigned vm); /* once its stop is over */
unsigned testbed_vm_restarts(unsigned vm);
ticks_t testbed_runtime(unsigned vm, unsigned vcpu);
ulong testbed_raised(unsigned vm, unsigned vcpu); /* guest interrupts raised since the last query */
unsigned testbed_kicks(unsigned cpu);             /* pending interrupts from other CPUs */
unsigned testbed_syncs(void);                     /* calls of cpu_sync() */
int testbed_on_cpu(unsigned cpu);                 /* 100 * VM + VCPU, or -1 */

#endif
