/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the host architecture for unit tests: they step CPUs, advance time, access the
 * simulated RAM and devices, and read what the hypervisor has done. host.c, pages.c and virtio.c
 * own the state. */
#ifndef HOST_H
#define HOST_H

#include "system.h"

#define HOST_REPORT_LINES 9U /* lines of a VCPU's report */
#define HOST_RAM_BASE UINT64_C(0x80000000)
#define HOST_RAM_SIZE UINT64_C(0x4000000)
#define HOST_DEVICE_BASE UINT64_C(0x20000000) /* device registers for pass-through */
#define HOST_DEVICE_SIZE UINT64_C(0x2000)
#define HOST_TRACE_SIZE ((uint64_t)SYSIMAGE_MAX_HARTS * SYSIMAGE_MAX_TRACE_KIB * 1024U)

/* Resets everything; CPU 0 becomes the current one. The simulated RAM is filled with 0xa5. */
void host_reset(void);

/* host_reset() leaves the RAM unchanged: for tests that boot hundreds of times a second. */
extern bool host_keeps_ram;

/* Simulates the next exit or interrupt of CPU `id`: handles what is pending, and runs the scheduler
 * if needed. Returns the VCPU that runs on the CPU now, or NULL if it sleeps. */
struct vcpu *host_step(unsigned id);

/* The current VCPU of CPU `id` exits by WFI; then as host_step(). */
struct vcpu *host_wait(unsigned id);

/*
 * Simulated costs of the hypervisor, in ticks, at the expense of the interrupted or the next VCPU:
 * 0, unless a test sets them after host_reset(). They advance the time of all CPUs, so tests with
 * costs use one CPU.
 */
struct host_costs {
    ticks_t enter; /* from the guest's last instruction to the first polling point */
    ticks_t clock; /* each reading of the clock by the scheduler, during and after its run */
    ticks_t leave; /* from the end of the scheduler to the next guest's first instruction */
};
extern struct host_costs host_costs;

/* Calls of arch_cpus_interrupt() since host_reset(). */
extern unsigned host_interrupts;
extern unsigned host_syncs; /* calls of cpu_sync() */

/* Called whenever the hypervisor polls interrupts; NULL, as after host_reset(): nothing is
 * called. */
extern void (*host_on_poll)(void);

/* The current CPU spends `ticks` in the hypervisor. */
void host_spend(ticks_t ticks);

/* Time that the guest in `v` has run since its start; without costs, the VCPU's run time. */
ticks_t host_ran(const struct vcpu *v);

/* When the next timer of any CPU expires; TICKS_NEVER if none is armed. */
ticks_t host_next_timer(void);

/* The simulated RAM at `hpa`. */
void *host_ram(uint64_t hpa);

/* The device register at `hpa`; all are 0 after host_reset(). */
uint32_t *host_device(uint64_t hpa);

/* The device that arch_device_*() reach, at any address; none while `read` is NULL. host_reset()
 * does not change it. */
struct host_registers {
    uint64_t (*read)(uint64_t at, unsigned bytes);
    void (*write)(uint64_t at, unsigned bytes, uint64_t value);
};
extern struct host_registers host_registers;
extern void (*host_device_handler)(void); /* of arch_device_interrupt() */

/* Whether a VCPU of the VM that runs on the current CPU may store to the page that arch_page_map()
 * has mapped at `gpa`. */
bool host_may_store(const struct vm *vm, gpa_t gpa);
/* The current CPU sees all changes of the VM's pages. */
void host_fence(const struct vm *vm);
/* Forgets all pages and routes. */
void host_pages_reset(void);
/* The device memory that arch_device_give() has mapped at `gpa` of the VM; 0: none. */
hpa_t host_given(const struct vm *vm, gpa_t gpa);
/* The line of host source `irq`, which arch_device_route() has given to a VM, is high. False if it
 * is no VM's. */
bool host_device_raise(unsigned irq);

/* What arch_instret() returns; 0: no counter. */
extern uint64_t host_instret;

/* Calls of arch_store_again(). */
extern unsigned host_stores_again;

/* The console UART takes `count` more characters, then none until the next call. HOST_UART_ENDLESS,
 * as after host_reset(): never full. */
#define HOST_UART_ENDLESS (~0U)
void host_uart_room(unsigned count);

/* Raises the console UART's interrupt if it is pending and returns true; else false. */
bool host_uart_interrupt(void);

/* Output of the console UART since the last call; input typed on it. */
const char *host_output(void);
void host_type(const char *text);

#endif
