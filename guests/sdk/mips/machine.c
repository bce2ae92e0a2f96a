/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of machine.h on MIPS32 that are not inline: time, sleep, interrupts, shutdown. Owns
 * the upper half of the time, and what machine_init() has detected. */
#include "machine.h"

#include "hcall_call.h"
#include "uart.h"

#define MACHINE_END_SHUTDOWN 0UL
#define MACHINE_END_REBOOT 1UL
#define MACHINE_UHI_EXIT 1UL

/*
 * Number of changes of Count's highest bit; half of it is the upper word of the time. Any reader of
 * the time may update it, also an interrupt handler or RT app that preempts another reader: hence
 * the atomic exchange.
 */
static uint32_t machine_halves;
static bool machine_native;
static bool machine_eic;

void machine_init(const void *fdt)
{
    machine_native = fdt == NULL;
    machine_eic = (cp0_read_config3() & CONFIG3_VEIC) != 0;
}

bool machine_has_eic(void)
{
    return machine_eic;
}

uint64_t machine_time(void)
{
    for (;;) {
        uint32_t halves = __atomic_load_n(&machine_halves, __ATOMIC_RELAXED);
        uint32_t count = cp0_read_count();

        if ((halves & 1U) != count >> 31) {
            (void)__atomic_compare_exchange_n(&machine_halves, &halves, halves + 1U, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        } else if (halves == __atomic_load_n(&machine_halves, __ATOMIC_RELAXED)) {
            return (uint64_t)(halves >> 1) << 32 | count;
        }
    }
}

uint64_t machine_time_near(unsigned long ticks)
{
    uint64_t now = machine_time();

    return now + (uint64_t)(int64_t)(int32_t)(ticks - (uint32_t)now);
}

void machine_enable(uint32_t line, bool on)
{
    uint32_t bit = UINT32_C(1) << (CAUSE_LINES_SHIFT + line);
    uint32_t status;

    if (machine_eic) {
        return;
    }
    status = cp0_di();
    cp0_write_status(on ? status | bit : status & ~bit);
}

/* Takes each pending interrupt once. */
static void machine_take_all(void)
{
    cp0_ei();
    (void)cp0_di();
}

void machine_wait(void)
{
    bool off = (cp0_read_status() & STATUS_IE) == 0;

    cp0_wait();
    if (off) {
        machine_take_all();
    }
}

void machine_take_message(void)
{
    uint32_t status = cp0_di();

    cp0_write_cause(cp0_read_cause() & ~(1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ)));
    if (machine_eic) {
        machine_take_all();
    }
    cp0_write_status(status);
}

/* SDBBP 1 with the call number in $25: the interface to a simulator or debugger (MIPS UHI). */
static void machine_exit(unsigned long code)
{
    register unsigned long number __asm__("$25") = MACHINE_UHI_EXIT;
    register unsigned long a0 __asm__("$4") = code;

    __asm__ volatile("sdbbp 1" : : "r"(number), "r"(a0) : "memory");
}

/* HYPCALL 1; returns if the hypervisor refuses. */
static void machine_end(unsigned long how, unsigned long reason)
{
    register unsigned long a0 __asm__("$4") = how;
    register unsigned long a1 __asm__("$5") = reason;

    __asm__ volatile(".set push\n\t.set virt\n\thypcall 1\n\t.set pop"
                     :
                     : "r"(a0), "r"(a1)
                     : "$2", "$3", "memory");
}

_Noreturn void machine_shutdown(bool failed)
{
    if (machine_native) {
        machine_exit(failed);
    } else {
        machine_end(MACHINE_END_SHUTDOWN, failed);
    }
    for (;;) {
        (void)cp0_di();
        cp0_wait();
    }
}

void machine_reboot(void)
{
    if (!machine_native) {
        machine_end(MACHINE_END_REBOOT, 0);
    }
}

uint32_t machine_claim(unsigned long hart)
{
    (void)hart;
    return (uart_read(UART_LSR) & UART_LSR_DATA) != 0 ? PLATFORM_UART_IRQ : 0;
}
