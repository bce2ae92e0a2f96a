/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guests that run on every architecture ask of theirs. Each architecture of the SDK has a header of this name with
 * the same functions; this is MIPS32's. riscv/include/machine.h says what they do; here stands what is different.
 */
#ifndef GUEST_MACHINE_H
#define GUEST_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cp0.h"
#include "platform.h"
#include "trap.h"

#define MACHINE_NAME "on MIPS32"

/** Count, made longer in software: to be called at least every 40 seconds. From anywhere, also from RT apps. */
uint64_t machine_time(void);

uint64_t machine_time_near(unsigned long ticks);

/** Executes so many instructions, from 2. */
static inline void machine_burn(uint64_t instructions)
{
    uint32_t turns = (uint32_t)(instructions / 2);

    __asm__ volatile(".set push\n\t.set noreorder\n1: bnez %0, 1b\n\taddiu %0, %0, -1\n\t.set pop" : "+r"(turns));
}

static inline bool machine_counts(void)
{
    return true;
}

/** Clocks rather than instructions: Count steps every two, and a simulated instruction is one. */
static inline uint64_t machine_instructions(void)
{
    return 2 * machine_time();
}

/** A marker of iasim: an instruction that does nothing. `number` is a constant. */
#define MACHINE_MARK(number) __asm__ volatile("sltiu $0, $0, " #number)

/** An external controller, whose levels stand where Status has the mask: to it nothing is masked. */
bool machine_has_eic(void);

/** Lets a line through, or not. */
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
 * With interrupts off: also takes those that are pending, as nothing else takes an external controller's back; see
 * trap_set_interrupt().
 */
void machine_wait(void);

void machine_take_message(void);

static inline void machine_wake_by_message(bool on)
{
    machine_enable(PLATFORM_MESSAGE_IRQ, on);
}

/** As timer_set(); returns the time, of when the timer had been set. */
uint64_t timer_arm(uint64_t deadline);

/** Takes the timer's interrupt back: it is set again if it came early (timer.h), else never. */
void timer_again(void);

/** The end of the guest: in a VM of the VM, natively of the simulator, whose exit code is 1 if it failed. */
_Noreturn void machine_shutdown(bool failed);

/** Natively it is refused. */
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

/** The UART as long as it has something. */
uint32_t machine_claim(unsigned long hart);

static inline void machine_complete(unsigned long hart, uint32_t source)
{
    (void)hart;
    (void)source;
}

/** Called first (start.S): `fdt` is NULL natively. */
void machine_init(const void *fdt);

#endif
