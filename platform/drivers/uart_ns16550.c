/* SPDX-License-Identifier: Apache-2.0 */
/* The ns16550a, the console UART of several boards; polled and interrupt-driven. Implements
 * platform_uart_*() of platform.h; board.h has the distance and width of its registers and the
 * divisor of its speed. Owns the number of free places in the transmit FIFO and whether its
 * interrupt is enabled. */
#include "uart_ns16550.h"

#include "platform.h"

#define THR 0U
#define RBR 0U
#define IER 1U
#define FCR 2U
#define LCR 3U
#define MCR 4U
#define LSR 5U

#define IER_RDI 0x01U
#define IER_THRI 0x02U
#define FCR_ENABLE 0x07U /* enables and clears FIFOs */
#define LCR_8N1 0x03U
#define LCR_DLAB 0x80U /* registers 0 and 1 are the divisor */
#define MCR_DTR_RTS_OUT2 0x0bU
#define LSR_DR 0x01U
#define LSR_THRE 0x20U

#define TX_FIFO 16U

static unsigned tx_room; /* free places in the transmit FIFO; owner: platform_uart_put() */
static bool tx_notify;   /* owner: platform_uart_notify_tx() */

static volatile UART_NS16550_REG *reg(unsigned n)
{
    return (volatile UART_NS16550_REG *)(UART_NS16550_WINDOW + platform.uart.base +
                                         n * UART_NS16550_STRIDE);
}

static void set_speed(unsigned divisor)
{
    *reg(LCR) = LCR_8N1 | LCR_DLAB;
    *reg(0) = (uint8_t)divisor;
    *reg(1) = (uint8_t)(divisor >> 8);
}

void platform_uart_init(void)
{
    *reg(IER) = 0;
    if (UART_NS16550_DIVISOR != 0) {
        set_speed(UART_NS16550_DIVISOR);
    }
    *reg(LCR) = LCR_8N1;
    *reg(FCR) = FCR_ENABLE;
    *reg(MCR) = MCR_DTR_RTS_OUT2;
    *reg(IER) = IER_RDI;
}

bool platform_uart_put(char c)
{
    if (tx_room == 0) {
        if ((*reg(LSR) & LSR_THRE) == 0) {
            return false;
        }
        tx_room = TX_FIFO;
    }
    tx_room--;
    *reg(THR) = (uint8_t)c;
    return true;
}

int platform_uart_get(void)
{
    return (*reg(LSR) & LSR_DR) != 0 ? (int)(*reg(RBR) & 0xffU) : -1;
}

/* QEMU's PLIC drops a claimed interrupt, although its line stays high, until the device sets the
 * line again. The ns16550a does so when IER changes. */
void platform_uart_again(bool tx)
{
    tx_notify |= tx;
    *reg(IER) = 0;
    *reg(IER) = tx_notify ? IER_RDI | IER_THRI : IER_RDI;
}

void platform_uart_notify_tx(bool enable)
{
    if (enable != tx_notify) {
        tx_notify = enable;
        *reg(IER) = enable ? IER_RDI | IER_THRI : IER_RDI;
    }
}
