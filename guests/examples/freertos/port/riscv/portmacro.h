/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on one RISC-V hart in S-mode, natively on an SBI or in a VM. It needs only the timer.
 * Names with a lower-case prefix (portYIELD, vPortEnterCritical) are those that the kernel
 * requires.
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
 * A yield is a software interrupt to the own hart, taken immediately or at the end of a critical
 * section. A task is therefore switched out only with a critical nesting of 0, and the nesting need
 * not be saved. In a VM, writing sip causes no exit.
 */
#define portYIELD() csr_set_sip(SIE_SOFT)
#define portYIELD_FROM_ISR(wanted) port_yield_from_isr(wanted)
#define portEND_SWITCHING_ISR(wanted) port_yield_from_isr(wanted)

static inline void port_yield_from_isr(BaseType_t wanted)
{
    if (wanted != 0) {
        portYIELD(); /* handled at the end of this trap, without another one */
    }
}

void vPortEnterCritical(void);
void vPortExitCritical(void);

/*
 * Interrupt handlers do not nest, so that the kernel's default (nothing to mask in a handler)
 * applies.
 */
#define portDISABLE_INTERRUPTS() csr_clear_sstatus(SSTATUS_SIE)
#define portENABLE_INTERRUPTS() csr_set_sstatus(SSTATUS_SIE)
#define portENTER_CRITICAL() vPortEnterCritical()
#define portEXIT_CRITICAL() vPortExitCritical()

/* Tickless idle: no tick until a task is due. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime);
#define portSUPPRESS_TICKS_AND_SLEEP(expected) vPortSuppressTicksAndSleep(expected)

/* Run-time statistics count in ticks of the time CSR. */
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() csr_read_time()

/**
 * Sets the handler of external interrupts (PLIC), called with interrupts off. Call before the
 * scheduler starts.
 */
void port_set_external_handler(void (*handler)(void));

/**
 * Sets the handler of message interrupts, called with interrupts off, also for the software
 * interrupts with which the kernel yields. Call before the scheduler starts.
 */
void port_set_message_handler(void (*handler)(void));

/** Called by vApplicationIdleHook: sleeps until the next interrupt where tickless idle does not. */
void port_idle(void);

/** Processor state for tasks and for code before the scheduler. Call first. */
static inline void port_init(void)
{
    csr_set_sstatus(SSTATUS_FS_INITIAL);
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
