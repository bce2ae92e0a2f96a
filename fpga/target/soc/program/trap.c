/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts and exceptions of the test program. Interrupts are counted and their cause is removed
 * at the device. */
#include "soc.h"
#include "uart.h"

#define PLIC_PRIORITY(source) (PLIC + 4U * (source))
#define PLIC_ENABLE (PLIC + 0x2000U)
#define PLIC_THRESHOLD (PLIC + 0x200000U)
#define PLIC_CLAIM (PLIC + 0x200004U)
#define CLINT_MSIP CLINT
#define CLINT_COMPARE (CLINT + 0x4000U)
#define SPI_ENABLE (SPI + 0x70U)
#define BOARD_IRQ (BOARD + 8U)
#define MIE_ALL 0x888UL
#define CHANNELS 5U /* devices of a VM with a channel: 1 to 4 */

/* Owner of all: this file. */
static volatile unsigned int taken[SOURCES + 1], exceptions, timers, software;
static volatile uint64_t trapped, claimed, events;

static unsigned int and_clear(volatile unsigned int *counter)
{
    unsigned int value;

    __asm__ volatile("amoswap.w %0, zero, (%1)" : "=r"(value) : "r"(counter) : "memory");
    return value;
}

unsigned int interrupts_taken(unsigned int source)
{
    return and_clear(&taken[source]);
}

unsigned int exceptions_taken(void)
{
    return and_clear(&exceptions);
}

unsigned int timers_taken(void)
{
    return and_clear(&timers);
}

unsigned int software_taken(void)
{
    return and_clear(&software);
}

uint64_t interrupt_trapped(void)
{
    return trapped;
}

uint64_t interrupt_claimed(void)
{
    return claimed;
}

uint64_t manager_events(void)
{
    uint64_t value;

    __asm__ volatile("amoswap.d %0, zero, (%1)" : "=r"(value) : "r"(&events) : "memory");
    return value;
}

void interrupt_wait(unsigned int source)
{
    interrupts_off();
    /* an interrupt that is taken between the two instructions ends wfi, too */
    while (taken[source] == 0) {
        __asm__ volatile("wfi; csrsi mstatus, 8; csrci mstatus, 8" ::: "memory");
    }
    interrupts_on();
    interrupts_taken(source);
}

void traps_start(void)
{
    for (unsigned int source = 1; source <= SOURCES; source++) {
        *at32(PLIC_PRIORITY(source)) = 1;
    }
    *at32(PLIC_ENABLE) = ~1U;
    *at32(PLIC_THRESHOLD) = 0;
    __asm__ volatile("csrw mie, %0; csrsi mstatus, 8" ::"r"(MIE_ALL) : "memory");
}

static void quiet_manager(void)
{
    uint64_t found = *fabric(FABRIC_REGS_IRQ_STATUS);

    events |= found;
    *fabric(FABRIC_REGS_IRQ_STATUS) = found;
}

static void quiet_shared_vm(unsigned int vm)
{
    for (unsigned int device = 1; device < CHANNELS; device++) {
        volatile uint64_t *interrupt = shared_page(vm, device, FABRIC_CHANNEL_INT);

        *interrupt = *interrupt; /* clears the events, keeps the enable bit */
    }
}

static void quiet(unsigned int source)
{
    if (source == SOURCE_UART) {
        uart_write(UART_IER, 0);
    } else if (source == SOURCE_SPI) {
        *at32(SPI_ENABLE) = 0;
    } else if (source < SOURCE_MANAGER) {
        *at64(BOARD_IRQ) &= ~(UINT64_C(1) << (source - SOURCE_BOARD));
    } else if (source == SOURCE_MANAGER) {
        quiet_manager();
    } else if (source < SOURCE_SHARED_MANAGER) {
        *interface32(source - SOURCE_VM, FABRIC_IF_INT_CTRL) = 0;
    } else if (source == SOURCE_SHARED_MANAGER) {
        *shared(FABRIC_SHARED_IRQ_STATUS) = *shared(FABRIC_SHARED_IRQ_STATUS);
    } else {
        quiet_shared_vm(source - SOURCE_SHARED_VM);
    }
}

static void take_external(uint64_t cycle)
{
    unsigned int source = *at32(PLIC_CLAIM);

    claimed = cycles();
    trapped = cycle;
    if (source >= 1 && source <= SOURCES) {
        taken[source]++;
        quiet(source);
        fence();
    }
    *at32(PLIC_CLAIM) = source;
}

uint64_t trap_handle(uint64_t cycle, uint64_t cause, uint64_t pc)
{
    if (cause == CAUSE_EXTERNAL) {
        take_external(cycle);
    } else if (cause == CAUSE_TIMER) {
        timers++;
        trapped = cycle;
        *at64(CLINT_COMPARE) = UINT64_MAX;
        fence();
    } else if (cause == CAUSE_SOFTWARE) {
        software++;
        *at32(CLINT_MSIP) = 0;
        fence();
    } else {
        exceptions++;
        return pc + ((*at8(pc) & 3U) == 3U ? 4U : 2U);
    }
    return pc;
}
