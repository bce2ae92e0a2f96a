/* SPDX-License-Identifier: Apache-2.0 */
/* What a board beside platform.h defines whose CPU gets its interrupts from a controller outside of it. */
#ifndef PLATFORM_EIC_H
#define PLATFORM_EIC_H

#include "types.h"

/* The timer and the console's UART interrupt from now on, the timer at a higher level, level 1 being the UART's; their
 * handlers use GPR shadow set `set`. All have one vector. */
void platform_irq_init(unsigned set);

/* The timer was set anew: its interrupt, if there was one, is none any more. */
void platform_timer_taken(void);

/* Does the UART interrupt? */
bool platform_uart_irq(void);

/* It is going to be seen to. */
void platform_uart_taken(void);

#endif
