/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between core and an architecture. Everything in it is mandatory. Functions marked
 * (inline) may be static inline functions in the architecture's arch_types.h. That header also
 * defines:
 *
 *   struct arch_cpu, arch_vcpu, arch_vm   the architecture's part of the core structures
 *   ARCH_RAM_ALIGN      alignment of start and end of guest RAM, guest- and host-physical, bytes
 *   ARCH_GPA_LIMIT      guest-physical addresses are below this
 *   ARCH_HPA_LIMIT      host-physical addresses are below this
 *   ARCH_DMA_ALIAS      offset from RAM to a second address of it that CPUs do not cache; 0: DMA is
 *                       coherent
 *   ARCH_MAX_CPUS       CPUs at most, up to SYSIMAGE_MAX_HARTS
 *   ARCH_VM_TIMERS      software timers for each VM: of the architecture and of components' devices
 *   ARCH_VM_VDEVS       emulated devices of a VM at most
 *   ARCH_TIME_SLOW      arch_time() may take a call of the firmware: the scheduler reads it once in
 *                       a context switch
 *   ARCH_VIRQ_MESSAGE   for vcpu_raise(): a message or doorbell, which the guest acknowledges
 *                       itself
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

/* This CPU, and the CPU with number `id` (inline). */
struct cpu *arch_cpu_self(void);
struct cpu *arch_cpu_get(unsigned id);

/* Starts CPU `id`, which then runs sched_run() forever. False if the machine has no such CPU. */
bool arch_cpu_start(unsigned id);

/* Interrupts the CPUs in the mask (bit n: CPU n), without this one; each calls cpu_ipi_received().
 * Caller holds no lock. */
void arch_cpus_interrupt(ulong cpus);

/* Sleeps until an interrupt is pending, without handling it. */
void arch_cpu_sleep(void);

/* Shuts the machine down and reports failure where the machine can. */
void arch_shutdown(bool failure) __attribute__((noreturn));

/* Instructions that this CPU has executed; 0 if it cannot count them. */
uint64_t arch_instret(void);

/* Low half of the CPU's finest event counter, for the trace only (inline). */
uint32_t arch_executed(void);

/* Whether the machine has the optional feature that the image's fixups call `feature`, and the
 * system's machine_mask does not hide it. */
bool arch_has(unsigned feature);

/* --- interrupts and time --- */

/* Whether an enabled interrupt is pending on this CPU (inline). */
bool arch_irq_pending(void);

/* A polling point: handles the pending interrupts of this CPU, a bounded number of them. */
void arch_irq_poll(void);

/* Enables or disables interrupts of devices on this CPU (inline). They are enabled at its start,
 * and stay pending while disabled. */
void arch_irq_devices(bool on);

/* The time counter, in ticks (inline). It is the same on all CPUs and never goes back. */
ticks_t arch_time(void);

/* Sets this CPU's one-shot timer (inline). TICKS_NEVER disarms it; a deadline in the past
 * interrupts at once. */
void arch_timer_set(ticks_t deadline);

/* --- locks --- */

/* Whether the system has one CPU only, constant since before the first lock: locks are no-ops
 * (inline). */
bool arch_is_uniprocessor(void);

/* Adds 1 to *p atomically, with no order; returns the value before (inline). */
int32_t arch_fetch_increment(int32_t *p);

/* Stores *p after all earlier accesses (inline). */
void arch_store_release(int32_t *p, int32_t value);

/* A hint to the CPU in a spin loop (inline). */
void arch_cpu_relax(void);

/* --- memory --- */

/* The hypervisor's own RAM at a host-physical address, for the trace (inline). */
void *arch_memory(hpa_t hpa);

/* Maps host RAM from `hpa` on in this CPU's window, until the next call; sets *size to the bytes up
 * to the window's end. */
void *arch_window(hpa_t hpa, uint64_t *size);

/* Clears `n` bytes of a window on RAM, a multiple of 8 like the address, by the widest stores that
 * the CPU has (inline). */
void arch_clear(void *dst, size_t n);

/* arch_window() of [hpa, hpa + size) for this CPU's struct arch_cpu; NULL if the range does not fit
 * in one window (inline). */
void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size);

/* --- VCPU --- */

/* Resets a VCPU to start at `entry` with its number in the first argument register and `arg` in the
 * second. */
void arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg);

/* Replaces the first argument of a VCPU that was reset, and sets its stack pointer. */
void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack);

/* Sets the interrupt lines of a VCPU that was reset and does not run yet to those of its VM. Caller
 * holds vm->lock. */
void arch_vcpu_lines(struct vcpu *v);

/* This CPU is about to sleep, inside sched_run(): an interrupt of the VCPU whose state it still
 * holds (cpu.loaded) must not wake it, because nothing would handle it. If that VCPU is the next to
 * run, its state is not loaded again: the architecture, which saves and loads VCPUs around
 * sched_run(), unmasks it. */
void arch_vcpu_mask(void);

/* After an IPI_SYNC: does what the architecture has requested of the running VCPU. */
void arch_vcpu_sync(struct vcpu *v);

/* Raises interrupts of the VCPU that is loaded on this CPU (inline). */
void arch_vcpu_inject(struct vcpu *v, ulong bits);

/* Whether the running VCPU has an interrupt that ends its waiting (inline). */
bool arch_guest_irq(const struct arch_vcpu *v);

/* When the guest's own timer must wake a waiting VCPU; TICKS_NEVER: never (inline). */
ticks_t arch_vcpu_deadline(const struct arch_vcpu *v);

/* The interrupts to raise when v->timer expires, for an emulated guest timer; ARCH_VIRQ_NONE if the
 * hardware raises them (inline). */
ulong arch_vcpu_timer_bits(const struct vcpu *v);

/* Prints line 0, 1, ... of the saved registers of `v`. False, with nothing printed, after the
 * last. */
bool arch_vcpu_report(const struct vcpu *v, unsigned line);

/* The name of trap number `cause`. */
const char *arch_cause_name(ulong cause);

/* --- debugging --- */

/* Whether breakpoint instructions of guests on this CPU call sched_watch from now on; otherwise
 * they are the guest's own exceptions. */
void arch_cpu_breakpoints(bool come);

/* Register `number` of a VCPU that does not run, with the architecture's numbers in GDB's remote
 * protocol. False if the register does not exist or cannot be written. */
bool arch_vcpu_get(const struct vcpu *v, unsigned number, uint64_t *value);
bool arch_vcpu_set(struct vcpu *v, unsigned number, uint64_t value);

/* Injects the breakpoint exception into a VCPU that does not run; its PC is at the breakpoint. */
void arch_vcpu_breakpoint(struct vcpu *v);

/* --- VM --- */

/* Builds the second-stage translation and the architecture's devices at boot. Returns NULL or what
 * failed. */
const char *arch_vm_init(struct vm *vm);

/* Resets the architecture's devices, at every start. */
void arch_vm_reset(struct vm *vm);

/* Sets line `source` of the VM's interrupt controller. Caller holds vm->lock. */
void arch_vm_irq(struct vm *vm, unsigned source, bool level);

/* Takes the mask of VCPUs that arch_vm_irq() leaves to be woken when vm.lock is released; each is
 * returned once (inline). */
ulong arch_vm_raised(struct arch_vm *vm);

#endif
