/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface of portable guests to the architecture, for MIPS32. Each architecture of the SDK has a
 * header of this name with the same functions. riscv/include/machine.h describes them; comments
 * here give the differences.
 */
#ifndef GUEST_MACHINE_H
#define GUEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cp0.h"
#include "platform.h"
#include "trap.h"

#define MACHINE_NAME "on MIPS32"

/**
 * Count, extended to 64 bits in software. Call at least every 40 seconds, from any context, RT apps
 * included.
 */
uint64_t machine_time(void);

uint64_t machine_time_near(unsigned long ticks);

/** Executes `instructions` instructions, at least 2. */
static inline void machine_burn(uint64_t instructions)
{
    uint32_t turns = (uint32_t)(instructions / 2);

    __asm__ volatile(".set push\n\t.set noreorder\n1: bnez %0, 1b\n\taddiu %0, %0, -1\n\t.set pop"
                     : "+r"(turns));
}

static inline bool machine_counts(void)
{
    return true;
}

/**
 * Clocks, not instructions: Count advances every two clocks; the simulator takes one clock per
 * instruction.
 */
static inline uint64_t machine_instructions(void)
{
    return 2 * machine_time();
}

/** A marker for iasim: an instruction without effect. `number` is a constant. */
#define MACHINE_MARK(number) __asm__ volatile("sltiu $0, $0, " #number)

/** True with an external interrupt controller (EIC): Status holds its level instead of a mask. */
bool machine_has_eic(void);

/** Enables or disables an interrupt line. */
void machine_enable(uint32_t line, bool on);

static inline void machine_wake_by_timer(bool on)
{
    machine_enable(PLATFORM_TIMER_IRQ, on);
}

static inline void machine_interrupts(bool on)
{
    if (on) {
        cp0_ei();
    } else {
        (void)cp0_di();
    }
}

static inline void machine_on_timer(void (*handler)(void))
{
    trap_set_interrupt(PLATFORM_TIMER_IRQ, handler);
}

/**
 * If interrupts are off, also takes pending interrupts, because otherwise nothing clears those of
 * an external controller; see trap_set_interrupt().
 */
void machine_wait(void);

void machine_take_message(void);

static inline void machine_wake_by_message(bool on)
{
    machine_enable(PLATFORM_MESSAGE_IRQ, on);
}

/** timer_set(); returns the time at which the timer was set. */
uint64_t timer_arm(uint64_t deadline);

/** Clears the timer interrupt; sets the timer again if the interrupt was early (timer.h). */
void timer_again(void);

/** In a VM, ends the VM; natively, ends the simulator with exit code 1 if `failed`. */
_Noreturn void machine_shutdown(bool failed);

/** Natively refused. */
void machine_reboot(void);

#define MACHINE_NO_VECTOR 0x9f001000U /* in kseg0, as EBase requires */

static inline void machine_lose_vector(void)
{
    (void)cp0_di();
    cp0_write_ebase(MACHINE_NO_VECTOR);
}

static inline void machine_uart_interrupt(unsigned long hart, bool on)
{
    (void)hart;
    machine_enable(PLATFORM_UART_IRQ, on);
}

static inline void machine_wake_by_uart(bool on)
{
    machine_enable(PLATFORM_UART_IRQ, on);
}

/** Reports the UART as long as it has received characters. */
uint32_t machine_claim(unsigned long hart);

static inline void machine_complete(unsigned long hart, uint32_t source)
{
    (void)hart;
    (void)source;
}

/** Called by start.S before main(); `fdt` is NULL natively. */
void machine_init(const void *fdt);

#endif
