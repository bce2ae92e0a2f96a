/* SPDX-License-Identifier: Apache-2.0 */
/* A PIC32MZ-EF: UART2 is the console; the interrupt controller uses one vector and the hypervisor's
 * shadow set for all interrupts. Each register is followed by three more addresses, which clear,
 * set and invert its bits. */
#include "platform.h"
#include "platform_eic.h"

#define SFR(address) (*(volatile uint32_t *)(0xa0000000U + (address))) /* in kseg1 */
#define CLR 0x4U
#define SET 0x8U

#define INT_CONTROLLER 0x1f810000U
#define INT_PRISS 0x1f810010U
#define INT_IFS(irq) (0x1f810040U + (irq) / 32U * 16U)
#define INT_IEC(irq) (0x1f8100c0U + (irq) / 32U * 16U)
#define INT_IPC(irq) (0x1f810140U + (irq) / 4U * 16U)
#define BIT(irq) (1U << (irq) % 32U)
#define PRIORITY(irq, priority) ((uint32_t)(priority) << ((irq) % 4U * 8U + 2U))

#define IRQ_TIMER 0U
#define IRQ_U2RX 146U
#define IRQ_U2TX 147U
#define PRIORITY_TIMER 2U
#define PRIORITY_UART 1U

#define U2MODE 0x1f822200U
#define U2STA 0x1f822210U
#define U2TXREG 0x1f822220U
#define U2RXREG 0x1f822230U
#define U2BRG 0x1f822240U
#define MODE_ON 0x8000U
#define STA_URXDA 0x0001U
#define STA_OERR 0x0002U
#define STA_UTXBF 0x0200U
#define STA_UTXEN 0x0400U
#define STA_URXEN 0x1000U
#define BRG_115200 26U /* 16 times the rate, from a peripheral clock of 50 MHz */

const struct platform_info platform = {
    .name = "m5150",
    .uart = {U2MODE, 0x50U},
    .irqchip = {INT_CONTROLLER, 0x540U},
};

void platform_uart_init(void)
{
    SFR(U2MODE) = 0;
    SFR(U2BRG) = BRG_115200;
    SFR(U2STA) = STA_UTXEN | STA_URXEN;
    SFR(U2MODE + SET) = MODE_ON;
}

bool platform_uart_put(char c)
{
    if ((SFR(U2STA) & STA_UTXBF) != 0) {
        return false;
    }
    SFR(U2TXREG) = (uint8_t)c;
    return true;
}

int platform_uart_get(void)
{
    uint32_t sta = SFR(U2STA);

    if ((sta & STA_OERR) != 0) { /* an overrun stops reception until cleared */
        SFR(U2STA + CLR) = STA_OERR;
    }
    return (sta & STA_URXDA) != 0 ? (uint8_t)SFR(U2RXREG) : -1;
}

void platform_uart_notify_tx(bool enable)
{
    SFR(INT_IFS(IRQ_U2TX) + CLR) = BIT(IRQ_U2TX);
    SFR(INT_IEC(IRQ_U2TX) + (enable ? SET : CLR)) = BIT(IRQ_U2TX);
}

/* A cleared flag is set again while its cause remains. */
void platform_uart_again(bool tx)
{
    if (tx) {
        platform_uart_notify_tx(true);
    }
}

/* The board has no means to report failure. */
void platform_fail(void)
{
}

/* OFFn and INTCON.MVEC stay 0: all interrupts use the vector at 0x200. */
void platform_irq_init(unsigned set)
{
    SFR(INT_PRISS) = set * 0x11111110U;
    SFR(INT_IPC(IRQ_TIMER) + SET) = PRIORITY(IRQ_TIMER, PRIORITY_TIMER);
    SFR(INT_IPC(IRQ_U2RX) + SET) = PRIORITY(IRQ_U2RX, PRIORITY_UART);
    SFR(INT_IPC(IRQ_U2TX) + SET) = PRIORITY(IRQ_U2TX, PRIORITY_UART);
    SFR(INT_IEC(IRQ_TIMER) + SET) = BIT(IRQ_TIMER);
    SFR(INT_IEC(IRQ_U2RX) + SET) = BIT(IRQ_U2RX);
}

/* The timer's flag stays set until it is cleared. */
void platform_timer_ack(void)
{
    SFR(INT_IFS(IRQ_TIMER) + CLR) = BIT(IRQ_TIMER);
}

/* The UART's flags stay set, too, and are set again while their causes remain. */
bool platform_uart_irq_pending(void)
{
    uint32_t uart = BIT(IRQ_U2RX) | BIT(IRQ_U2TX);

    return (SFR(INT_IFS(IRQ_U2RX)) & SFR(INT_IEC(IRQ_U2RX)) & uart) != 0;
}

void platform_uart_ack(void)
{
    SFR(INT_IFS(IRQ_U2RX) + CLR) = BIT(IRQ_U2RX) | BIT(IRQ_U2TX);
}

uint64_t platform_wall_clock(void)
{
    return 0;
}
