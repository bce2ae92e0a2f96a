/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between core and an architecture. core calls these; each architecture defines all of them (all are
 * mandatory), and in its arch_types.h:
 *
 *   struct arch_cpu, arch_vcpu, arch_vm   its part of the core structures
 *   struct cpu *arch_cpu_self(void)       this CPU
 *   struct cpu *arch_cpu_get(unsigned)    CPU number so and so
 *   void arch_vcpu_inject(v, bits)        raises guest interrupts of the VCPU whose state is loaded in this CPU
 *   ticks_t arch_vcpu_deadline(arch_vcpu) when a waiting VCPU's own timer wants it woken; TICKS_NEVER if not
 *   bool arch_guest_irq(arch_vcpu)        the running VCPU has an interrupt raised that ends its waiting
 *   ulong arch_vcpu_timer_bits(v)         v->timer has expired: interrupts that go with it (emulated guest timer),
 *                                         ARCH_VIRQ_NONE if hardware does it
 *   ticks_t arch_time(void)               the time counter, same value on all CPUs, never backwards
 *   uint32_t arch_executed(void)          what the CPU counts most finely, low half (RISC-V: instret); only for the trace,
 *                                         without which the machine need not have it
 *   void *arch_memory(hpa_t)              RAM that the image gives to the hypervisor itself: the trace's
 *   int32_t arch_fetch_increment(p)      adds 1 to *p atomically and returns what it was; no order
 *   void arch_store_release(p, value)     stores *p after everything before it
 *   void arch_cpu_relax(void)             a hint inside a spin
 *   void arch_timer_set(ticks_t)          sets this CPU's one-shot timer; TICKS_NEVER turns it off; a deadline in the
 *                                         past interrupts at once
 *   bool arch_alone(void)                 there is one CPU only, since before the first lock is taken: locks are needless
 *   ARCH_RAM_ALIGN                        guest RAM begins and ends, for guest and host, at multiples of this
 *   ARCH_GPA_LIMIT                        guest-physical addresses are below this
 *   ARCH_HPA_LIMIT                        host-physical addresses are below this
 *   ARCH_SEEDS                            false: the machine has never a seed for guests (seed.h)
 *   void arch_irq_devices(bool)           whether this CPU takes interrupts of devices, as it does from its start on; they
 *                                         stay pending meanwhile
 *   void *arch_window_for(arch_cpu, hpa, size)  arch_window() of all of [hpa, hpa + size) for this CPU's struct arch_cpu,
 *                                         or NULL if that does not lie in one window
 *   bool arch_irq_pending(void)           an enabled interrupt waits for this CPU
 *   ulong arch_vm_raised(arch_vm *)       the VCPUs that arch_vm_irq() leaves to be woken when vm.lock is given back, each
 *                                         told of once
 *   ARCH_VIRQ_MESSAGE                     for vcpu_raise(): a message or a doorbell, which the guest acknowledges itself
 */
#ifndef ARCH_H
#define ARCH_H

#include "cpu.h"
#include "sysimage.h"
#include "types.h"
#include "vcpu.h"
#include "vm.h"

/* Bits for vcpu_raise() that core itself raises. */
#define ARCH_VIRQ_NONE 0UL

/* --- CPU --- */

/* Interrupts the CPUs of the mask (bit n: CPU n), others than this one, which then call cpu_ipi_received(). No lock is
 * held. */
void arch_cpus_interrupt(ulong cpus);

/* Sleeps until an interrupt is pending; does not handle it. */
void arch_cpu_sleep(void);

/* An IPI_SYNC came: something of the architecture's own may have been asked of the running VCPU. */
void arch_vcpu_sync(struct vcpu *v);

/* Handles the pending interrupts of this CPU, at most one of each kind. */
void arch_irq_poll(void);

/* Starts CPU `id`, which then runs sched_run() for ever. Returns false if the machine has no such CPU. */
bool arch_cpu_start(unsigned id);

/* Instructions this CPU has executed, or 0 if it does not tell. */
uint64_t arch_instret(void);

/* Ends the run: the machine is switched off, telling failure where it can. */
void arch_shutdown(bool failure) __attribute__((noreturn));

/* --- VCPU --- */

/* State of a VCPU that begins at `entry` with its number in the first and `arg` in the second argument register. */
void arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg);

/* A VCPU that was reset begins with `first` in the first argument register instead, and with a stack. */
void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack);

/* A VCPU that was reset, and is not running yet, sees the interrupt lines of its VM as they are. Caller holds vm->lock. */
void arch_vcpu_lines(struct vcpu *v);

/* No VCPU's state is loaded from here on (cpu.loaded): nothing of it may wake this CPU. Saving and loading is the
 * architecture's own, around sched_run(). */
void arch_vcpu_unload(void);

/* Prints the lines of v's registers, which are saved, one at a time: line 0, 1, ... False, with nothing printed, if there
 * are no more. */
bool arch_vcpu_report(const struct vcpu *v, unsigned line);

/* The name of trap number `cause`. */
const char *arch_cause_name(ulong cause);

/* --- Debugging --- */

/* Whether a breakpoint instruction of the guest that this CPU runs from now on comes to sched_watch, or, as without a
 * debugger, is the guest's own exception. */
void arch_cpu_breakpoints(bool come);

/* The register `number` of a VCPU that is on no CPU; the numbers are those of the architecture in GDB's remote protocol.
 * False if there is no such register, or it cannot be written. */
bool arch_vcpu_get(const struct vcpu *v, unsigned number, uint64_t *value);
bool arch_vcpu_set(struct vcpu *v, unsigned number, uint64_t value);

/* Has a VCPU that is on no CPU, and stands before a breakpoint instruction, take it as its own exception. */
void arch_vcpu_breakpoint(struct vcpu *v);

/* --- VM --- */

/* Builds the second-stage translation and the architecture's devices at boot. Returns NULL or what failed. */
const char *arch_vm_init(struct vm *vm);

/* Power-on state of the architecture's devices, at every start. */
void arch_vm_reset(struct vm *vm);

/* The interrupt line `source` of the VM's interrupt controller changes. Caller holds vm->lock. */
void arch_vm_irq(struct vm *vm, unsigned source, bool level);

/* Maps host RAM for a short while: up to the next multiple of ARCH_WINDOW_SIZE from `hpa`; sets *size to how much.
 * The mapping is this CPU's and lasts until the next call. */
void *arch_window(hpa_t hpa, uint64_t *size);

/* Does the machine have the optional feature (after the system's machine_mask)? The numbers are the architecture's, and
 * those of the image's fixups. */
bool arch_has(unsigned feature);

#endif
