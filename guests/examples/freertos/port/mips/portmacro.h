/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on MIPS32 Release 5 without floating point, one core: natively or in a VM, with no help from either but the
 * timer. The kernel of a guest uses one GPR shadow set, its SRSCtl's as it finds it: whether the processor has others is
 * nothing to it.
 * Names with a prefix in small letters before a capital (portYIELD, vPortEnterCritical) are those the kernel asks for.
 */
#ifndef PORTMACRO_H
#define PORTMACRO_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

typedef uint32_t StackType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef unsigned long TickType_t;

#define portSTACK_TYPE uint32_t
#define portBASE_TYPE long
#define portPOINTER_SIZE_TYPE uintptr_t
#define portMAX_DELAY 0xffffffffUL
#define portTICK_TYPE_IS_ATOMIC 1
#define portTICK_PERIOD_MS ((TickType_t)1000 / configTICK_RATE_HZ)
#define portSTACK_GROWTH (-1)
#define portBYTE_ALIGNMENT 8
#define portTASK_FUNCTION_PROTO(function, parameters) void function(void *parameters)
#define portTASK_FUNCTION(function, parameters) void function(void *parameters)
#define portMEMORY_BARRIER() __asm__ volatile("" : : : "memory")
#define portNOP() __asm__ volatile("nop")

/*
 * A yield is a SYSCALL: unlike the processor's software interrupts it needs no interrupt controller, which a guest on a
 * core with an external one does not have. In a critical section, and in an interrupt handler, it is only noted, and
 * done at the end. So a task is only ever switched out with a critical nesting of 0, and the count needs no saving.
 */
#define portYIELD() port_yield()
#define portYIELD_FROM_ISR(wanted) port_yield_from_isr(wanted)
#define portEND_SWITCHING_ISR(wanted) port_yield_from_isr(wanted)

/* Owner: port.c. How deep in critical sections, and whether a switch waits for the end of one or of a handler. */
extern volatile unsigned long port_nesting;
extern volatile unsigned long port_yield_waits;

static inline void port_yield(void)
{
    if (port_nesting == 0) {
        __asm__ volatile("syscall" : : : "memory");
    } else {
        port_yield_waits = 1;
    }
}

static inline void port_yield_from_isr(BaseType_t wanted)
{
    if (wanted != 0) {
        port_yield_waits = 1;
    }
}

void vPortEnterCritical(void);
void vPortExitCritical(void);

/* Interrupt handlers do not nest: within one there is nothing to mask, which is the kernel's default. */
#define portDISABLE_INTERRUPTS() ((void)cp0_di())
#define portENABLE_INTERRUPTS() cp0_ei()
#define portENTER_CRITICAL() vPortEnterCritical()
#define portEXIT_CRITICAL() vPortExitCritical()

/* Idle with nothing to do for a while: no tick until there is. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime);
#define portSUPPRESS_TICKS_AND_SLEEP(expected) vPortSuppressTicksAndSleep(expected)

/* Run-time statistics count in steps of Count. */
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() machine_time()

/** Who serves the UART; called with interrupts off. Before the scheduler starts. */
void port_set_external_handler(void (*handler)(void));

/** Who serves messages of other VMs; called with interrupts off. Before the scheduler starts. */
void port_set_message_handler(void (*handler)(void));

/** To be called by vApplicationIdleHook: sleeps until the next interrupt where tickless idle does not. */
void port_idle(void);

/** What tasks, and what is computed before there are any, expect of the processor. To be called first. */
static inline void port_init(void)
{
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
