/* SPDX-License-Identifier: Apache-2.0 */
/* CLINT, PLIC, UART and SPI. */
#include "soc.h"
#include "uart.h"

#define CLINT_COMPARE (CLINT + 0x4000U)
#define CLINT_TIME (CLINT + 0xbff8U)
#define BOARD_IRQ (BOARD + 8U)
#define MCR_LOOP 0x10U
#define IIR_MASK 0x0fU
#define IIR_RECEIVE 0x04U
#define IIR_TRANSMIT 0x02U
#define FCR_TRIGGER_8 0x87U
#define LINE_CYCLES 200U /* more than a character's */
#define SPI_MODE 0x18U
#define SPI_TRANSMIT 0x48U
#define SPI_RECEIVE 0x4cU
#define SPI_RECEIVE_MARK 0x54U
#define SPI_ENABLE 0x70U
#define SPI_PENDING 0x74U
#define SPI_HOLD 2U
#define SPI_RECEIVED 2U
#define SPI_BYTES 8U /* the FIFO's: command, address, data */
#define FLASH_READ 0x03U
#define SPI_FLASH_START 0x00a74ef5U /* what the model's flash begins with (flash_model.sv) */
#define TICKS 500U

/* An interrupt that is pending is taken in a bounded time, not before a certain instruction: not
 * even right after WFI. */
static void let_interrupt_come(void)
{
    for (unsigned int i = 0; i < 100; i++) {
        __asm__ volatile("nop");
    }
}

static void test_clint(void)
{
    uint64_t begin = *at64(CLINT_TIME), first = cycles(), end, due;

    while (cycles() - first < 1000) {
    }
    end = *at64(CLINT_TIME);
    first = cycles() - first;
    check("time_counts_cycles", end - begin >= 1000 && end - begin <= first + 100, 1);
    timers_taken();
    due = *at64(CLINT_TIME) + TICKS;
    *at64(CLINT_COMPARE) = due;
    __asm__ volatile("wfi");
    let_interrupt_come();
    check("timer", timers_taken(), 1);
    check("timer_in_time", *at64(CLINT_TIME) >= due, 1);
    software_taken();
    *at32(CLINT) = 1;
    fence();
    let_interrupt_come();
    check("software", software_taken(), 1);
}

static void test_plic(void)
{
    for (unsigned int line = 0; line < 5; line++) {
        *at64(BOARD_IRQ) = UINT64_C(1) << line;
        interrupt_wait(SOURCE_BOARD + line);
    }
    check("board_lines", *at64(BOARD_IRQ), 0);
    report("trap_to_claim", interrupt_claimed() - interrupt_trapped());
}

static void wait_cycles(uint64_t number)
{
    for (uint64_t begin = cycles(); cycles() - begin < number;) {
    }
}

/* What is sent in loop mode comes back and reaches the trigger. Nothing is printed meanwhile. */
static void test_uart(void)
{
    unsigned int received = 0, wrong = 0, identification, late;

    while ((uart_read(UART_LSR) & 0x40U) == 0) {
    }
    uart_write(UART_MCR, MCR_LOOP);
    uart_write(UART_FCR, FCR_TRIGGER_8);
    uart_write(UART_IER, UART_IER_RX);
    for (unsigned int i = 0; i < 8; i++) {
        uart_write(UART_THR, (uint8_t)(0xa5U + i));
    }
    interrupt_wait(SOURCE_UART);
    interrupts_off();
    uart_write(UART_IER, UART_IER_RX);
    identification = uart_read(UART_IIR) & IIR_MASK;
    uart_write(UART_IER, 0);
    fence();
    interrupts_on();
    for (; (uart_read(UART_LSR) & UART_LSR_DATA) != 0; received++) {
        wrong += uart_read(UART_RBR) != (uint8_t)(0xa5U + received);
    }
    uart_write(UART_THR, 'x'); /* one character below the trigger: a time-out */
    wait_cycles(LINE_CYCLES);
    uart_write(UART_IER, UART_IER_RX);
    interrupt_wait(SOURCE_UART);
    late = uart_read(UART_RBR);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    interrupt_wait(SOURCE_UART);
    uart_write(UART_FCR, 0x07);
    uart_write(UART_MCR, 0);
    check("uart_identification", identification, IIR_RECEIVE);
    check("uart_received", received, 8);
    check("uart_wrong", wrong, 0);
    check("uart_late", late, 'x');
}

/* A read command and four bytes of the flash, with one interrupt. */
static void test_spi(void)
{
    uint32_t data = 0;

    *at32(SPI + SPI_MODE) = SPI_HOLD;
    *at32(SPI + SPI_RECEIVE_MARK) = SPI_BYTES - 1U;
    *at32(SPI + SPI_TRANSMIT) = FLASH_READ;
    for (unsigned int i = 1; i < SPI_BYTES; i++) {
        *at32(SPI + SPI_TRANSMIT) = 0;
    }
    *at32(SPI + SPI_ENABLE) = SPI_RECEIVED;
    interrupt_wait(SOURCE_SPI);
    for (unsigned int i = 0; i < SPI_BYTES; i++) {
        data = data << 8 | (*at32(SPI + SPI_RECEIVE) & 0xffU);
    }
    *at32(SPI + SPI_MODE) = 0;
    check("spi_flash", data, SPI_FLASH_START);
    check("spi_empty", *at32(SPI + SPI_RECEIVE) >> 31, 1);
}

void test_peripherals(void)
{
    test_clint();
    test_plic();
    test_uart();
    test_spi();
}
