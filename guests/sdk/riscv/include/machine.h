/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface of portable guests to the architecture. Each architecture of the SDK has a header of
 * this name with the same functions; this one is for RISC-V: S-mode on an SBI.
 */
#ifndef GUEST_MACHINE_H
#define GUEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "platform.h"
#include "plic.h"
#include "sbi.h"
#include "trap.h"

#define MACHINE_NAME "in S-mode"

/** Current time in ticks of PLATFORM_TIMEBASE_HZ. */
static inline uint64_t machine_time(void)
{
    return csr_read_time();
}

/** The time nearest to now whose lower bits, in the width of a register, are `ticks`. */
static inline uint64_t machine_time_near(unsigned long ticks)
{
    return ticks;
}

/** Executes `instructions` instructions, at least 2. */
static inline void machine_burn(uint64_t instructions)
{
    uint64_t turns = instructions / 2;

    __asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(turns));
}

/** True: machine_instructions() works. Call once, before interrupts are on. */
static inline bool machine_counts(void)
{
    return trap_probe_instret();
}

/** Instructions executed by the processor, by all its software. */
static inline uint64_t machine_instructions(void)
{
    return csr_read_instret();
}

/** Sleeps until an enabled interrupt is pending, even if none can be taken. May return early. */
static inline void machine_wait(void)
{
    csr_wait_for_interrupt();
}

static inline void machine_wake_by(unsigned long bit, bool on)
{
    if (on) {
        csr_set_sie(bit);
    } else {
        csr_clear_sie(bit);
    }
}

/**
 * For guests that take no interrupts: whether the timer ends machine_wait(). Initially nothing
 * does.
 */
static inline void machine_wake_by_timer(bool on)
{
    machine_wake_by(SIE_TIMER, on);
}

/** Enables or disables interrupts. */
static inline void machine_interrupts(bool on)
{
    if (on) {
        csr_set_sstatus(SSTATUS_SIE);
    } else {
        csr_clear_sstatus(SSTATUS_SIE);
    }
}

/** Registers the handler of the timer interrupt. */
static inline void machine_on_timer(void (*handler)(void))
{
    trap_set_interrupt(IRQ_TIMER, handler);
}

/**
 * Whether messages of other VMs (ipc.h) end machine_wait(). Their interrupt stays pending until the
 * guest clears it; receive messages after clearing.
 */
static inline void machine_wake_by_message(bool on)
{
    machine_wake_by(SIE_SOFT, on);
}

static inline void machine_take_message(void)
{
    csr_clear_sip(SIE_SOFT);
}

/** A marker for a simulator; no code on RISC-V. */
#define MACHINE_MARK(number) ((void)(number))

/** Shuts down; `failed` is the result. */
static inline _Noreturn void machine_shutdown(bool failed)
{
    sbi_shutdown(failed ? SBI_RESET_SYSTEM_FAILURE : SBI_RESET_NO_REASON);
}

/** Reboots the guest; returns if that is refused. */
static inline void machine_reboot(void)
{
    (void)sbi_system_reset(SBI_RESET_COLD, SBI_RESET_NO_REASON);
}

/** Where machine_lose_vector() points the trap vector: no memory, no device. */
#define MACHINE_NO_VECTOR (PLATFORM_HOLE + 0x1000UL)

/**
 * Turns interrupts off and points the trap vector at no memory: the next trap cannot be handled by
 * the guest.
 */
static inline void machine_lose_vector(void)
{
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_stvec(MACHINE_NO_VECTOR);
}

/** Whether the UART ends machine_wait(); requires machine_uart_interrupt(). */
static inline void machine_wake_by_uart(bool on)
{
    machine_wake_by(SIE_EXTERNAL, on);
}

/** Routes the UART's interrupt to CPU `hart`; the UART's enable bits (uart.h) are separate. */
static inline void machine_uart_interrupt(unsigned long hart, bool on)
{
    plic_set_priority(PLATFORM_UART_IRQ, 1);
    plic_set_threshold(plic_context(hart), 0);
    plic_enable(plic_context(hart), PLATFORM_UART_IRQ, on);
}

/**
 * Claims an interrupt: its source, or 0. The source does not interrupt again until it is completed.
 */
static inline uint32_t machine_claim(unsigned long hart)
{
    return plic_claim(plic_context(hart));
}

static inline void machine_complete(unsigned long hart, uint32_t source)
{
    plic_complete(plic_context(hart), source);
}

#endif
