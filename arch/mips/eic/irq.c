/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's own interrupts on a CPU with an external interrupt controller: the functions
 * irq_*() of internal.h, by the board's platform_eic.h. Owns no state; lines/irq.c is for a CPU
 * without the controller. */
#include "cp0.h"
#include "internal.h"
#include "platform_eic.h"

#define LEVEL_UART STATUS_IP(2) /* Status.IPL 1 */

void irq_init(void)
{
    platform_irq_init((unsigned)(cp0_read(CP0_SRSCTL) >> SRSCTL_HSS_SHIFT & SRSCTL_SET));
}

bool irq_uart_pending(void)
{
    return (cp0_read(CP0_STATUS) & LEVEL_UART) == 0 && platform_uart_irq_pending();
}

void irq_uart_ack(void)
{
    platform_uart_ack();
}

/* By the interrupt priority level of this CPU: the timer's level is higher. */
void irq_uart_enable(bool on)
{
    ulong status = cp0_read(CP0_STATUS);

    cp0_write(CP0_STATUS, on ? status & ~(ulong)LEVEL_UART : status | LEVEL_UART);
}
