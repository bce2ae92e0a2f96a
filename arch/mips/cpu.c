/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU: clock, timer, interrupts and caches. Owns mips_clock, the high half of the time. It
 * serves core through arch.h; there is one CPU, so no lock guards it. */
#include "cpu.h"
#include "arch.h"
#include "console.h"
#include "internal.h"

/* For trap.S. */
void irq_take(void);

struct mips_clock mips_clock;

void timer_set_slow(ticks_t deadline)
{
    ticks_t now = arch_time();
    uint32_t distance = deadline > now + TIMER_FARTHEST ? TIMER_FARTHEST : TIMER_SOON, compare;

    if (deadline > now + TIMER_SOON && deadline - now < TIMER_FARTHEST) { /* neither */
        distance = (uint32_t)(deadline - now);
    }
    do {
        compare = cp0_read(CP0_COUNT) + distance;
        cp0_write(CP0_COMPARE, compare);
        irq_timer_set();
    } while ((int32_t)(cp0_read(CP0_COUNT) - compare) >= 0);
}

static inline bool timer_pending(void)
{
    return (cp0_read(CP0_CAUSE) & CAUSE_TI) != 0;
}

/*
 * Handles all interrupts but the timer's fast path in trap.S. The controller's timer request is
 * dropped first, then Cause is read: the controller latches the edge, so dropping a request after
 * reading Cause could lose it. The CPU's own timer request is cleared when the timer is set again,
 * which always follows.
 *
 * While one VCPU runs alone, only the timer's interrupts, TIMER_FARTHEST apart at most, call
 * timer_hold() before its 2^32 steps have passed.
 */
void irq_take(void)
{
    irq_timer_set();
    if (timer_pending()) {
        timer_expire(cpu_self());
    }
    timer_hold(gcp0_read(CP0_CAUSE));
    if (irq_uart_pending()) {
        irq_uart_ack();
        console_interrupt();
    }
}

OWN_SYMBOL void arch_irq_poll(void)
{
    irq_take();
}

bool arch_irq_pending(void)
{
    return timer_pending() || irq_uart_pending();
}

void arch_irq_devices(bool on)
{
    irq_uart_enable(on);
}

/* Interrupts are disabled; a pending interrupt still ends WAIT (Config7.WII). */
OWN_SYMBOL void arch_cpu_sleep(void)
{
    __asm__ volatile("wait" ::: "memory");
}

/* No other CPU exists. */
void arch_cpus_interrupt(ulong cpus)
{
    (void)cpus;
}

bool arch_cpu_start(unsigned id)
{
    (void)id;
    return false;
}

/* The M5150 has no instruction counter that could be read at no cost. */
uint64_t arch_instret(void)
{
    return 0;
}

/* --- caches --- */

#define CACHE_I_INDEX_INVALIDATE 0x00
#define CACHE_D_INDEX_WRITEBACK 0x01

#define CONFIG1_IS(config) ((config) >> 22 & 7U)
#define CONFIG1_IL(config) ((config) >> 19 & 7U)
#define CONFIG1_IA(config) ((config) >> 16 & 7U)
#define CONFIG1_DS(config) ((config) >> 13 & 7U)
#define CONFIG1_DL(config) ((config) >> 10 & 7U)
#define CONFIG1_DA(config) ((config) >> 7 & 7U)

/* Size of a cache and of its lines in bytes; line 0: no cache. */
struct cache {
    ulong size, line;
};

static struct cache cache_of(ulong sets, ulong line, ulong ways)
{
    ulong bytes = line == 0 ? 0 : 2UL << line;

    return (struct cache){(sets == 7 ? 32UL : 64UL << sets) * bytes * (ways + 1U), bytes};
}

#define EIGHT_LINES(operation, at, line)                                                       \
    __asm__ volatile("cache %1, 0(%0)\n addu %0, %0, %2\n cache %1, 0(%0)\n addu %0, %0, %2\n" \
                     "cache %1, 0(%0)\n addu %0, %0, %2\n cache %1, 0(%0)\n addu %0, %0, %2\n" \
                     "cache %1, 0(%0)\n addu %0, %0, %2\n cache %1, 0(%0)\n addu %0, %0, %2\n" \
                     "cache %1, 0(%0)\n addu %0, %0, %2\n cache %1, 0(%0)\n addu %0, %0, %2"   \
                     : "+r"(at)                                                                \
                     : "i"(operation), "r"(line)                                               \
                     : "memory")

/* About 3000 instructions with the PIC32MZ-EF's caches, without a polling point. */
void cpu_sync_caches(void)
{
    ulong config = cp0_read(CP0_CONFIG1);
    struct cache i = cache_of(CONFIG1_IS(config), CONFIG1_IL(config), CONFIG1_IA(config));
    struct cache d = cache_of(CONFIG1_DS(config), CONFIG1_DL(config), CONFIG1_DA(config));

    for (ulong at = KSEG0; at < KSEG0 + d.size;) {
        EIGHT_LINES(CACHE_D_INDEX_WRITEBACK, at, d.line);
    }
    __asm__ volatile("sync" ::: "memory");
    for (ulong at = KSEG0; at < KSEG0 + i.size;) {
        EIGHT_LINES(CACHE_I_INDEX_INVALIDATE, at, i.line);
    }
}

/* Writes a line back, or invalidates it, by index, whichever VM it belongs to: this never loses
 * data. */
void cpu_flush_line(ulong operation, ulong address)
{
    ulong line = KSEG0 | (address & 0x1fffffffU);

    if ((operation & 3U) == CACHE_D_INDEX_WRITEBACK) {
        __asm__ volatile("cache %0, 0(%1)" ::"i"(CACHE_D_INDEX_WRITEBACK), "r"(line) : "memory");
    } else if ((operation & 3U) == CACHE_I_INDEX_INVALIDATE) {
        __asm__ volatile("cache %0, 0(%1)" ::"i"(CACHE_I_INDEX_INVALIDATE), "r"(line) : "memory");
    }
}

void cpu_init(void)
{
    irq_init();
    cp0_write(CP0_COMPARE, cp0_read(CP0_COUNT) - 1U);
}
