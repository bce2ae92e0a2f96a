/* SPDX-License-Identifier: Apache-2.0 */
/* The contract, in addition to platform.h, of a board whose CPU has an external interrupt
 * controller. */
#ifndef PLATFORM_EIC_H
#define PLATFORM_EIC_H

#include "types.h"

/* Enables the interrupts of the timer and the console's UART: the UART at level 1, the timer above.
 * Both use the same vector, and handlers use GPR shadow set `set`. */
void platform_irq_init(unsigned set);

/* The timer was set again: clears its interrupt request. */
void platform_timer_ack(void);

/* Whether the UART's interrupt is pending. */
bool platform_uart_irq_pending(void);

/* Acknowledges the UART's interrupt. */
void platform_uart_ack(void);

#endif
