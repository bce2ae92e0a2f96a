/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flash as Linux's drivers use it: a SiFive SPI controller with an S25FL128S. Words of the
 * kernel's arguments: `sectors=` of the VM's window, `seed=` of the data that the VM leaves at
 * 0x1000 of it.
 */
#include <string.h>

#include "fdt.h"
#include "print.h"
#include "shared_test.h"

/* Registers of the controller, 32 bits each. */
#define CSID 0x10U
#define CSDEF 0x14U
#define CSMODE 0x18U
#define FMT 0x40U
#define TXDATA 0x48U
#define RXDATA 0x4cU
#define TXMARK 0x50U
#define RXMARK 0x54U
#define IP 0x74U
#define AUTO 0U
#define HOLD 2U
#define LENGTH_8 (8U << 16)
#define TX_ONLY 8U
#define TX_WATERMARK 1U
#define RX_WATERMARK 2U
#define EMPTY (1U << 31)
#define DEPTH 8U

/* Commands of the chip, and bits of its status. */
#define READ_ID 0x9fU
#define READ_STATUS 0x05U
#define WRITE_ENABLE 0x06U
#define WRITE_DISABLE 0x04U
#define READ 0x03U
#define PROGRAM 0x02U
#define ERASE 0xd8U
#define CLEAR_STATUS 0x30U
#define WIP 1U
#define E_ERR (1U << 5)
#define P_ERR (1U << 6)

#define PAGE 256U
#define SECTOR 65536U
#define AT 0x1000U
#define BYTES 600U
/* longer than two slices of operations of others, for which a read may wait */
#define POLLS 2000000U

static uintptr_t page;
static uint32_t window; /* bytes */
static uint8_t data[BYTES], back[BYTES];

static void write(unsigned int reg, uint32_t value)
{
    *(volatile uint32_t *)(page + reg) = value;
}

static uint32_t read(unsigned int reg)
{
    return *(volatile uint32_t *)(page + reg);
}

static void wait_for(uint32_t bit)
{
    for (unsigned int i = 0; i < POLLS; i++) {
        if ((read(IP) & bit) != 0) {
            return;
        }
    }
    must(false, "the controller is ready");
}

/* Eight bytes at most, as the driver fills the FIFO. */
static void transfer_part(const uint8_t *out, uint8_t *in, unsigned int bytes)
{
    for (unsigned int i = 0; i < bytes; i++) {
        write(TXDATA, out != NULL ? out[i] : 0);
    }
    if (in == NULL) {
        wait_for(TX_WATERMARK);
        return;
    }
    write(RXMARK, bytes - 1U);
    wait_for(RX_WATERMARK);
    for (unsigned int i = 0; i < bytes; i++) {
        uint32_t byte = read(RXDATA);

        must((byte & EMPTY) == 0, "a received byte");
        in[i] = (uint8_t)byte;
    }
}

static void transfer(const uint8_t *out, uint8_t *in, unsigned int bytes)
{
    write(FMT, LENGTH_8 | (in != NULL ? 0 : TX_ONLY));
    for (unsigned int at = 0; at < bytes; at += DEPTH) {
        unsigned int part = bytes - at < DEPTH ? bytes - at : DEPTH;

        transfer_part(out != NULL ? out + at : NULL, in != NULL ? in + at : NULL, part);
    }
}

/* A command, its address if it has one, and bytes to the chip or from it. */
static void command(const uint8_t *head, unsigned int head_bytes, const uint8_t *out, uint8_t *in,
                    unsigned int bytes)
{
    write(CSDEF, 1);
    write(CSID, 0);
    write(CSMODE, HOLD);
    transfer(head, NULL, head_bytes);
    if (bytes != 0) {
        transfer(out, in, bytes);
    }
    write(CSMODE, AUTO);
}

static void simple(uint8_t code)
{
    command(&code, 1, NULL, NULL, 0);
}

static uint8_t status(void)
{
    const uint8_t code = READ_STATUS;
    uint8_t value = 0;

    command(&code, 1, NULL, &value, 1);
    return value;
}

static void with_address(uint8_t code, uint32_t address, const uint8_t *out, uint8_t *in,
                         unsigned int bytes)
{
    const uint8_t head[] = {code, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
                            (uint8_t)address};

    command(head, sizeof(head), out, in, bytes);
}

/* Writes, and returns the status at the end. An error keeps WIP set, as in the chip. */
static uint8_t change(uint8_t code, uint32_t address, const uint8_t *out, unsigned int bytes)
{
    uint8_t now = WIP;

    simple(WRITE_ENABLE);
    with_address(code, address, out, NULL, bytes);
    for (unsigned int i = 0; i < POLLS && (now & (WIP | E_ERR | P_ERR)) == WIP; i++) {
        now = status();
    }
    if ((now & (E_ERR | P_ERR)) != 0) {
        simple(CLEAR_STATUS);
        simple(WRITE_DISABLE);
    }
    return now & (WIP | E_ERR | P_ERR);
}

static void program(uint32_t address, const uint8_t *from, unsigned int bytes)
{
    while (bytes > 0) {
        unsigned int part = PAGE - address % PAGE;

        part = part < bytes ? part : bytes;
        must(change(PROGRAM, address, from, part) == 0, "program a page");
        address += part;
        from += part;
        bytes -= part;
    }
}

static bool is_erased(uint32_t address)
{
    uint8_t bytes[PAGE / 4U];

    with_address(READ, address, NULL, bytes, sizeof(bytes));
    for (unsigned int i = 0; i < sizeof(bytes); i++) {
        if (bytes[i] != 0xff) {
            return false;
        }
    }
    return true;
}

static void check_identity(void)
{
    static const uint8_t expected[] = {0x01, 0x20, 0x18, 0x4d, 0x01, 0x80};
    const uint8_t code = READ_ID;
    uint8_t id[sizeof(expected)];

    command(&code, 1, NULL, id, sizeof(id));
    must(memcmp(id, expected, sizeof(id)) == 0, "the chip's identification");
    must(status() == 0, "the chip's status");
}

static void check_contents(uint8_t seed)
{
    for (unsigned int i = 0; i < BYTES; i++) {
        data[i] = (uint8_t)(seed + 11U * i + (i >> 8));
    }
    must(change(ERASE, 0, NULL, 0) == 0, "erase a sector");
    must(is_erased(AT) && is_erased(SECTOR - PAGE), "the sector is erased");
    program(AT, data, BYTES);
    with_address(READ, AT, NULL, back, BYTES);
    must(memcmp(data, back, BYTES) == 0, "what was programmed");
}

/* The chip has the size of the whole flash; sectors of other VMs cannot be changed and read as
 * erased. */
static void check_neighbours(void)
{
    must(is_erased(window) && is_erased(window + AT), "the next VM's sectors");
    must(change(PROGRAM, window, data, 16) == (WIP | P_ERR), "program the next VM's sector");
    must(change(ERASE, window, NULL, 0) == (WIP | E_ERR), "erase the next VM's sector");
    must(change(PROGRAM, 255U * SECTOR, data, 16) == (WIP | P_ERR), "program the last sector");
    must(status() == 0, "the status after errors");
    with_address(READ, AT, NULL, back, BYTES);
    must(memcmp(data, back, BYTES) == 0, "the data after errors");
}

void check_spi(const void *fdt, unsigned long hart)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, "sifive,spi0", "reg", &length);

    (void)hart;
    page = (uintptr_t)fdt_cell(reg, length, 0) << 32 | fdt_cell(reg, length, 1);
    window = (uint32_t)fdt_bootarg_number(fdt, "sectors", 1) * SECTOR;
    write(TXMARK, 1);
    check_identity();
    check_contents((uint8_t)fdt_bootarg_number(fdt, "seed", 0));
    check_neighbours();
    print("shared: SPI tested\n");
}
