/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupt storms, and attacks that do not return: fatal traps, sleep, endless loops, resets. */
#include "attacker.h"
#include "hcall_call.h"
#include "print.h"
#include "timer.h"

#define STORM 20000UL
#define CAUSE_SOFTWARE 0x300U
#define STATUS_SOFTWARE 0x300U
#define CONSOLE_LINES 400U

static volatile unsigned long interrupts;

/* --- storms --- */

static void again_timer(void)
{
    interrupts++;
    timer_set(interrupts < STORM ? machine_time() + interrupts % 3 : UINT64_MAX);
}

/* Timers that have always expired. */
void timer_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(PLATFORM_TIMER_IRQ, again_timer);
    machine_enable(PLATFORM_TIMER_IRQ, true);
    timer_set(0);
    machine_interrupts(true);
    spin(10UL * MS);
    machine_interrupts(false);
    machine_enable(PLATFORM_TIMER_IRQ, false);
    judge(v, interrupts > 50, "only %lu interrupts came", interrupts);
    v->tried += interrupts;
}

static void once_timer(void)
{
    interrupts++;
    timer_set(UINT64_MAX);
}

/*
 * Sets Compare `steps` ahead of Count. A VM may be preempted in between: a Compare in the past
 * interrupts only after Count has wrapped.
 */
static uint32_t compare_in(uint32_t steps)
{
    uint32_t due;

    do {
        due = cp0_read_count() + steps;
        cp0_write_compare(due);
    } while ((int32_t)(cp0_read_count() - due) >= 0);
    return due;
}

/* A pending timer interrupt: a write of Count keeps it, a write of Compare clears it. */
void timer_waits(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(PLATFORM_TIMER_IRQ, once_timer);
    machine_enable(PLATFORM_TIMER_IRQ, true);
    for (unsigned int round = 0; round < 6; round++) {
        bool stays = round % 2 == 0;

        interrupts = 0;
        (void)compare_in(MS / 10U);
        spin(MS);
        if (stays) {
            cp0_write_count(cp0_read_count() + 5U);
        } else {
            cp0_write_compare(cp0_read_count() + 1000U * MS);
        }
        machine_interrupts(true);
        spin(MS / 10U);
        machine_interrupts(false);
        judge(v, interrupts == (stays ? 1U : 0U), "round %u: %lu interrupts", round, interrupts);
    }
    machine_enable(PLATFORM_TIMER_IRQ, false);
}

/*
 * Writes Cause, which is emulated, while the timer interrupt is raised: the interrupt must not get
 * lost.
 */
void timer_beside_cause(struct verdict *v, uint64_t arg)
{
    uint32_t cause = cp0_read_cause();

    (void)arg;
    trap_set_interrupt(PLATFORM_TIMER_IRQ, once_timer);
    machine_enable(PLATFORM_TIMER_IRQ, true);
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t due = compare_in(1000U + round);

        interrupts = 0;
        while ((int32_t)(cp0_read_count() - due) < 500) {
            cp0_write_cause(cause ^ CAUSE_IV);
            cp0_write_cause(cause);
        }
        machine_interrupts(true);
        spin(MS / 50U);
        machine_interrupts(false);
        judge(v, interrupts == 1, "round %u: %lu interrupts", round, interrupts);
    }
    machine_enable(PLATFORM_TIMER_IRQ, false);
}

static void again_software(void)
{
    interrupts++;
    cp0_write_cause(interrupts < STORM ? cp0_read_cause() | CAUSE_SOFTWARE
                                       : cp0_read_cause() & ~CAUSE_SOFTWARE);
}

/* Software interrupts of the processor; with an external interrupt controller none is delivered. */
void software_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(0, again_software);
    trap_set_interrupt(1, again_software);
    machine_enable(0, true);
    machine_enable(1, true);
    cp0_write_cause(cp0_read_cause() | CAUSE_SOFTWARE);
    machine_interrupts(true);
    spin(10UL * MS);
    machine_interrupts(false);
    cp0_write_cause(cp0_read_cause() & ~CAUSE_SOFTWARE);
    judge(v, machine_has_eic() || interrupts > 50, "only %lu interrupts came", interrupts);
    v->tried += interrupts + 1;
}

/* Much output with terminal control sequences. */
void console_flood(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned int n = 0; n < CONSOLE_LINES; n++) {
        print("\033[2J\033]0;mine\a\x14q line %u of a flood\n", n);
        v->tried++;
    }
}

/* --- attacks that do not return --- */

/* An exception with the vectors at an unmapped address. */
void vectors_outside(struct verdict *v, uint64_t arg)
{
    (void)v;
    cp0_write_ebase((uint32_t)arg);
    __asm__ volatile("break");
}

/* With Status.BEV the vectors are in the boot ROM, which a VM does not have. */
void vectors_at_reset(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    cp0_write_status(cp0_read_status() | STATUS_BEV);
    __asm__ volatile("break");
}

/* SDBBP, reserved for debuggers, with several codes. */
void debug_exception(struct verdict *v, uint64_t arg)
{
    static const uint32_t codes[] = {0, 1, 2, 5, 0x3ffU, 0xfffffU};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(codes); i++) {
        struct caught c = try_word(0x7000003fU | codes[i] << 6, 1, 0);

        judge(v, c.code == EXCEPTION_RESERVED, "SDBBP 0x%x: code %u", codes[i], c.code);
    }
}

/* Vectors whose instructions raise exceptions. */
void vectors_fail(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t vectors[1024] __attribute__((aligned(4096)));

    (void)v;
    (void)arg;
    for (unsigned int i = 0; i < 1024; i++) {
        vectors[i] = 0x0000000dU; /* BREAK */
    }
    cp0_write_ebase((uint32_t)(uintptr_t)vectors);
    __asm__ volatile("break");
    for (;;) {
    }
}

void loop_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    machine_interrupts(false);
    for (;;) {
    }
}

/* With EXL and ERL the guest takes no interrupts; the hypervisor must still take its own. */
void loop_at_exception_level(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    cp0_write_status(cp0_read_status() | STATUS_EXL | STATUS_ERL);
    for (;;) {
    }
}

/* A branch to itself with WAIT in its delay slot. */
void loop_in_the_slot(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    __asm__ volatile(".set push\n\t.set noreorder\n1: b 1b\n\twait\n\t.set pop");
}

void sleep_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    machine_interrupts(false);
    timer_set(UINT64_MAX);
    for (;;) {
        cp0_wait();
    }
}

/*
 * WAIT with a pending interrupt that is never taken: WAIT returns immediately, in an endless loop.
 */
void wait_storm(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    machine_interrupts(false);
    machine_enable(PLATFORM_TIMER_IRQ, true);
    timer_set(0);
    for (;;) {
        cp0_wait();
    }
}

/* A store-conditional that never succeeds, because the hypercall in between clears the link. */
void conditional_loop(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t word;

    (void)v;
    (void)arg;
    for (;;) {
        __asm__ volatile("ll $2, 0(%0)" : : "r"(&word) : "$2", "memory");
        (void)hcall_call(63, 0, 0, 0);
        __asm__ volatile("sc $2, 0(%0)" : : "r"(&word) : "$2", "memory");
    }
}

void bus_errors_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    for (;;) {
        (void)try_word(WORD_ACCESS(0x23), 0x80000000U + RAM_END, 0);
    }
}

void shut_down(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    machine_shutdown(true);
}
