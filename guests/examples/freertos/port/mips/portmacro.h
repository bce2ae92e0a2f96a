/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on one core of MIPS32 Release 5 without floating point, natively or in a VM. It needs
 * only the timer. The kernel uses the GPR shadow set that SRSCtl selects at its start and no other.
 * Names with a lower-case prefix (portYIELD, vPortEnterCritical) are those that the kernel
 * requires.
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
 * A yield is a SYSCALL: unlike software interrupts it needs no interrupt controller, which a guest
 * on a core with an external controller does not have. In a critical section or interrupt handler
 * the yield is deferred to its end. A task is therefore switched out only with a critical nesting
 * of 0, and the nesting need not be saved.
 */
#define portYIELD() port_yield()
#define portYIELD_FROM_ISR(wanted) port_yield_from_isr(wanted)
#define portEND_SWITCHING_ISR(wanted) port_yield_from_isr(wanted)

/* Owner: port.c. Nesting of critical sections, and whether a yield is deferred. */
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

/*
 * Interrupt handlers do not nest, so that the kernel's default (nothing to mask in a handler)
 * applies.
 */
#define portDISABLE_INTERRUPTS() ((void)cp0_di())
#define portENABLE_INTERRUPTS() cp0_ei()
#define portENTER_CRITICAL() vPortEnterCritical()
#define portEXIT_CRITICAL() vPortExitCritical()

/* Tickless idle: no tick until a task is due. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime);
#define portSUPPRESS_TICKS_AND_SLEEP(expected) vPortSuppressTicksAndSleep(expected)

/* Run-time statistics use ticks of Count. */
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() machine_time()

/**
 * Sets the handler of the UART interrupt, called with interrupts off. Call before the scheduler
 * starts.
 */
void port_set_external_handler(void (*handler)(void));

/**
 * Sets the handler of message interrupts, called with interrupts off. Call before the scheduler
 * starts.
 */
void port_set_message_handler(void (*handler)(void));

/** Called by vApplicationIdleHook: sleeps until the next interrupt where tickless idle does not. */
void port_idle(void);

/** Processor state for tasks and for code before the scheduler. Call first. */
static inline void port_init(void)
{
}

/** Number of idle periods slept without ticks. */
unsigned long port_tickless_sleeps(void);

/**
 * Late ticks: counted after they were due, several in one interrupt, because the guest did not have
 * the processor. All other ticks passed while the guest was running or idle.
 */
unsigned long port_late_ticks(void);

/** Prints `what` and ends the guest as failed, from any context. */
_Noreturn void port_fatal(const char *what, const char *detail, unsigned long number);

#endif
