/* SPDX-License-Identifier: Apache-2.0 */
/* Polled driver of a SiFive SPI controller with a flash (flash_bytes.h). Owns the address of the
 * controller's registers. */
#include <stddef.h>

#include "fdt.h"
#include "flash_bytes.h"

#define CELLS_OF_ADDRESS 2U
#define CSMODE 0x18U
#define TXDATA 0x48U
#define RXDATA 0x4cU
#define CSMODE_AUTO 0U
#define CSMODE_HOLD 2U
#define RXDATA_EMPTY (1U << 31)
#define COMMAND_READ 0x03U
#define COMMAND_BYTES 4U

static uintptr_t registers;

static void write_register(uintptr_t offset, uint32_t value)
{
    *(volatile uint32_t *)(registers + offset) = value;
}

static uint8_t receive(void)
{
    uint32_t word;

    do {
        word = *(volatile uint32_t *)(registers + RXDATA);
    } while ((word & RXDATA_EMPTY) != 0);
    return (uint8_t)word;
}

bool spi_flash_open(const void *fdt)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, "sifive,spi0", "reg", &length);

    if (reg != NULL) {
        registers = (uintptr_t)fdt_cell(reg, length, 0) << 32 |
                    fdt_cell(reg, length, CELLS_OF_ADDRESS - 1U);
    }
    return registers != 0;
}

/* All bytes fit into the transmit FIFO. What comes in during the command has no meaning. */
uint8_t spi_flash_read(uint32_t address)
{
    uint8_t value = 0;

    write_register(CSMODE, CSMODE_HOLD);
    write_register(TXDATA, COMMAND_READ);
    write_register(TXDATA, address >> 16 & 0xffU);
    write_register(TXDATA, address >> 8 & 0xffU);
    write_register(TXDATA, address & 0xffU);
    write_register(TXDATA, 0);
    for (unsigned int i = 0; i <= COMMAND_BYTES; i++) {
        value = receive();
    }
    write_register(CSMODE, CSMODE_AUTO);
    return value;
}
