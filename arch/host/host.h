/* SPDX-License-Identifier: Apache-2.0 */
/* What tests do with the host architecture. */
#ifndef HOST_H
#define HOST_H

#include "system.h"

#define HOST_REPORT_LINES 9U /* of a VCPU's registers */
#define HOST_RAM_BASE UINT64_C(0x80000000)
#define HOST_RAM_SIZE UINT64_C(0x4000000)
#define HOST_DEVICE_BASE UINT64_C(0x20000000) /* registers of devices that can be passed through */
#define HOST_DEVICE_SIZE UINT64_C(0x2000)
#define HOST_TRACE_SIZE ((uint64_t)SYSIMAGE_MAX_HARTS * SYSIMAGE_MAX_TRACE_KIB * 1024U)

/* Forgets everything and makes CPU 0 the current one. The RAM of the pretended machine is all 0xa5. */
void host_reset(void);

/* Leaves the RAM as it is instead: for who boots hundreds of times a second. */
extern bool host_keeps_ram;

/* Steps CPU `id` as its next exit or interrupt would: takes what is pending for it, and runs the scheduler if that is
 * called for. Returns the VCPU that runs on it now, or NULL if it sleeps. */
struct vcpu *host_step(unsigned id);

/* The current VCPU of CPU `id` exits to wait for an interrupt; then as host_step(). */
struct vcpu *host_wait(unsigned id);

/*
 * What the hypervisor takes, in ticks, from the VCPU that it interrupts or that comes next: nothing, unless a test says so
 * after host_reset(). With it, time goes on for all CPUs; tests of what comes of that have one.
 */
struct host_costs {
    ticks_t enter; /* from a guest's last instruction to where the hypervisor looks at what there is */
    ticks_t look;  /* each time that the scheduler looks at the clock: on its way, and behind it */
    ticks_t leave; /* from the scheduler's end to the next guest's first instruction */
};
extern struct host_costs host_costs;

/* Calls of arch_cpus_interrupt() since host_reset(). */
extern unsigned host_interrupts;

/* Called each time the hypervisor looks at interrupts; NULL, as after host_reset(): nobody wants to know. */
extern void (*host_looks)(void);

/* The current CPU spends `ticks` in the hypervisor. */
void host_spend(ticks_t ticks);

/* Time that the guest in `v` itself has had since its start; without costs, its run time. */
ticks_t host_ran(const struct vcpu *v);

/* When the next timer of any CPU fires; TICKS_NEVER if none. */
ticks_t host_next_timer(void);

/* The pretended machine's RAM at `hpa`. */
void *host_ram(uint64_t hpa);

/* The register at `hpa` of a device; all are 0 after host_reset(). */
uint32_t *host_device(uint64_t hpa);

/* What the CPUs' counters of retired instructions read; 0: they do not count. */
extern uint64_t host_instret;

/* The console UART takes `count` more characters, then none until the next call. HOST_UART_ENDLESS, as after host_reset():
 * it is never full. */
#define HOST_UART_ENDLESS (~0U)
void host_uart_room(unsigned count);

/* The console UART's interrupt, if there is one: true. */
bool host_uart_interrupt(void);

/* What the console UART was given since the last call; and what is typed on it. */
const char *host_output(void);
void host_type(const char *text);

#endif
