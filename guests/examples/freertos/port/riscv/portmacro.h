/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on RISC-V in S-mode, one hart: natively on an SBI or in a VM, with no help from either but the timer.
 * Names with a prefix in small letters before a capital (portYIELD, vPortEnterCritical) are those the kernel asks for.
 */
#ifndef PORTMACRO_H
#define PORTMACRO_H

#include <stdbool.h>
#include <stdint.h>

#include "csr.h"

typedef uint64_t StackType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint64_t TickType_t;

#define portSTACK_TYPE uint64_t
#define portBASE_TYPE long
#define portPOINTER_SIZE_TYPE uintptr_t
#define portMAX_DELAY UINT64_MAX
#define portTICK_TYPE_IS_ATOMIC 1
#define portTICK_PERIOD_MS ((TickType_t)1000 / configTICK_RATE_HZ)
#define portSTACK_GROWTH (-1)
#define portBYTE_ALIGNMENT 16
#define portTASK_FUNCTION_PROTO(function, parameters) void function(void *parameters)
#define portTASK_FUNCTION(function, parameters) void function(void *parameters)
#define portMEMORY_BARRIER() __asm__ volatile("" : : : "memory")
#define portNOP() __asm__ volatile("nop")

/*
 * A yield is a software interrupt that the task sends itself. It is taken at once with interrupts on; in a critical
 * section it waits for the end. So a task is only ever switched out with a critical nesting of 0, and the count needs
 * no saving. In a VM sip is the guest's own register: no exit.
 */
#define portYIELD() csr_set_sip(SIE_SOFT)
#define portYIELD_FROM_ISR(wanted) port_yield_from_isr(wanted)
#define portEND_SWITCHING_ISR(wanted) port_yield_from_isr(wanted)

static inline void port_yield_from_isr(BaseType_t wanted)
{
    if (wanted != 0) {
        portYIELD(); /* found at the end of the trap, without a second one */
    }
}

void vPortEnterCritical(void);
void vPortExitCritical(void);

/* Interrupt handlers do not nest: within one there is nothing to mask, which is the kernel's default. */
#define portDISABLE_INTERRUPTS() csr_clear_sstatus(SSTATUS_SIE)
#define portENABLE_INTERRUPTS() csr_set_sstatus(SSTATUS_SIE)
#define portENTER_CRITICAL() vPortEnterCritical()
#define portEXIT_CRITICAL() vPortExitCritical()

/* Idle with nothing to do for a while: no tick until there is. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime);
#define portSUPPRESS_TICKS_AND_SLEEP(expected) vPortSuppressTicksAndSleep(expected)

/* Run-time statistics count in ticks of the time CSR. */
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() csr_read_time()

/** Who serves supervisor external interrupts (the PLIC); called with interrupts off. Before the scheduler starts. */
void port_set_external_handler(void (*handler)(void));

/** To be called by vApplicationIdleHook: sleeps until the next interrupt where tickless idle does not. */
void port_idle(void);

/** What tasks, and what is computed before there are any, expect of the processor. To be called first. */
static inline void port_init(void)
{
    csr_set_sstatus(SSTATUS_FS_INITIAL);
}

/** Number of times an idle period was slept through without ticks. */
unsigned long port_tickless_sleeps(void);

/**
 * Ticks that were not counted when they were due but made up for later, several in one interrupt: the processor was not
 * ours meanwhile. All others passed with us running, or asleep with nothing to do.
 */
unsigned long port_late_ticks(void);

/** Prints `what` and ends the guest as failed, from any context. */
_Noreturn void port_fatal(const char *what, const char *detail, unsigned long number);

#endif
