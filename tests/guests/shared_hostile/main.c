/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks through the pages of shared devices: writes anything anywhere in them, requests that no
 * driver makes, addresses outside of the VM, other VMs' sectors, pins, MAC addresses, pixels and
 * lines. It never reads a completion, and skips instructions that trap. It needs a device that
 * takes requests. Word of the kernel's arguments: `seed=`.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "shared_ethernet.h"
#include "uart.h"

#define REGISTERS 16U /* words of 64 bits of a page, some of which are no registers */
#define SUBMIT 8U     /* offsets: fabric_channel, fabric_gpio */
#define RING 0x18U
#define FORMAT 8U /* fabric_screen */
#define SECTORS 256U
#define REPORT 8192U /* rounds */
#define OWN_BYTES 65536U
#define ALIGNED __attribute__((aligned(128)))
/* Of the controller of the SPI face. */
#define SPI_CSMODE 0x18U
#define SPI_TXDATA 0x48U

/* Pages; the first ones take requests, the last ones are stock devices, whose registers have 32
 * bits. */
enum page {
    FLASH,
    SEND,
    RECEIVE,
    COPY,
    GPIO,
    SCREEN,
    UART,
    SPI,
    PAGES
};

int main(unsigned long hart, const void *fdt);

static struct random source;
static uintptr_t pages[PAGES]; /* 0: not of this VM */
static uint8_t mac[ETHERNET_ADDRESS];
static uint8_t own[OWN_BYTES] ALIGNED; /* that the devices may overwrite */
static unsigned long traps;

static bool skip(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)cause;
    (void)stval;
    traps++;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

static uint64_t any(void)
{
    return random_next(&source);
}

static uint64_t below(uint64_t number)
{
    return random_below(&source, number);
}

static void store(uintptr_t address, uint64_t value)
{
    *(volatile uint64_t *)address = value;
}

/* Of the own memory, at its edges, of nothing, of what other VMs and the machine have there. */
static uint64_t any_address(void)
{
    const uint64_t some[] = {
        (uintptr_t)own, (uintptr_t)own + below(64), 0x7ffffff8, 0x803ffff0, 0x80400000, 0,
        0x18200000,     PLATFORM_PLIC_BASE,         0x90000000, any() >> 23};

    return some[below(sizeof(some) / sizeof(some[0]))];
}

/* One of the VM's pages, between two numbers. */
static enum page any_page(enum page first, enum page end)
{
    enum page page;

    do {
        page = (enum page)((uint64_t)first + below((uint64_t)end - (uint64_t)first));
    } while (pages[page] == 0);
    return page;
}

/* Any value, with any width, at any place of a page, or of a page that the VM does not have. */
static void write_anything(void)
{
    enum page number = any_page(FLASH, PAGES);
    uintptr_t page = below(16) == 0 ? (0x18200000UL + 0x1000UL * below(512)) : pages[number];
    uintptr_t place = page + 8U * below(REGISTERS);

    switch (below(number >= UART ? 4 : 16)) {
    case 0:
        *(volatile uint8_t *)(place + below(8)) = (uint8_t)any();
        break;
    case 1:
        *(volatile uint32_t *)(place + 4U * below(2)) = (uint32_t)any();
        break;
    case 2:
        (void)*(volatile uint32_t *)(place + 4U * below(2));
        break;
    default:
        store(place, any());
        break;
    }
}

/* A request that looks like one. */
static void request(void)
{
    static const uint16_t lengths[] = {0, 1, 60, 1514, 1515, 32768, 65535};
    uintptr_t page = pages[any_page(FLASH, GPIO)];
    uint64_t target = below(SECTORS) * 65536U + (below(2) == 0 ? 0 : below(65536));

    if (below(8) == 0) {
        store(page + RING, any_address());
    }
    store(page, any_address());
    store(page + SUBMIT, below(below(8) == 0 ? 256 : 4) | below(256) << 8 |
                             (uint64_t)lengths[below(7)] << 16 |
                             (below(2) == 0 ? target : any_address() & UINT32_MAX) << 32);
}

/* A frame of another VM's address, with a tag, for the link, or to all. */
static void forge(void)
{
    static const uint8_t to[][ETHERNET_ADDRESS] = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                                   {1, 0x80, 0xc2, 0, 0, 1},
                                                   {2, 0, 0, 0, 0, 2},
                                                   {2, 0, 0, 0, 0, 1}};
    static const uint8_t types[][2] = {{8, 0}, {8, 6}, {0x81, 0}, {0x88, 8}, {0x88, 0xb5}};

    if (pages[SEND] == 0) {
        return;
    }
    memcpy(own, to[below(4)], ETHERNET_ADDRESS);
    memcpy(own + ETHERNET_ADDRESS, mac, ETHERNET_ADDRESS);
    if (below(2) == 0) {
        own[11] = (uint8_t)below(8);
    }
    memcpy(own + 12, types[below(5)], 2);
    store(pages[SEND], (uintptr_t)own);
    store(pages[SEND] + SUBMIT, below(256) << 8 | (14U + below(1500)) << 16);
}

/* Commands for all pins, at all times. */
static void command(void)
{
    uint64_t op = 1U + below(15);
    uint64_t delay = below(4) == 0 ? any() & 0xffffffU : below(64);

    if (pages[GPIO] != 0) {
        store(pages[GPIO], below(2) << 63 | op << 59 |
                               (any() & (((uint64_t)1 << 57) - 1U) & ~(uint64_t)0xffffffU) | delay);
        store(pages[GPIO] + SUBMIT, below(32) == 0 ? 2 : 1);
    }
}

/* A framebuffer anywhere, with lines of any distance; mostly one with pixels. */
static void show(void)
{
    bool visible = below(8) != 0;

    if (pages[SCREEN] != 0) {
        store(pages[SCREEN], visible ? (uintptr_t)own + 8U * below(64) : any_address());
        store(pages[SCREEN] + FORMAT,
              visible ? (uint64_t)1 << 32 | 8U * below(64) : (any() & 0xffffU) | below(2) << 32);
    }
}

/* Lines that look like another VM's, without end, or with any bytes. */
static void print_line(void)
{
    static const char *const texts[] = {"[3] draw: frame 1, 9 incomplete lines\n", "\r[3] draw",
                                        "\n[3] draw: frame 2", "\x1b[2J"};
    const char *text = texts[below(4)];

    for (; pages[UART] != 0 && *text != '\0'; text++) {
        *(volatile uint8_t *)pages[UART] = below(16) == 0 ? (uint8_t)any() : (uint8_t)*text;
    }
}

/* A command to the chip behind the SPI controller, for any sector. */
static void command_chip(void)
{
    static const uint8_t codes[] = {0x06, 0x02, 0xd8, 0x03, 0x9f, 0x05, 0x30, 0x04, 0xc7};
    unsigned int bytes = (unsigned int)below(24);

    if (pages[SPI] == 0) {
        return;
    }
    *(volatile uint32_t *)(pages[SPI] + SPI_CSMODE) = below(8) == 0 ? 0 : 2;
    *(volatile uint32_t *)(pages[SPI] + SPI_TXDATA) = codes[below(sizeof(codes))];
    for (unsigned int i = 0; i < bytes; i++) {
        *(volatile uint32_t *)(pages[SPI] + SPI_TXDATA) = (uint8_t)any();
    }
    *(volatile uint32_t *)(pages[SPI] + SPI_CSMODE) = below(8) == 0 ? 2 : 0;
}

static uintptr_t page_of(const void *fdt, const char *compatible, uint32_t index)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, compatible, "reg", &length);

    return reg == NULL ? 0
                       : (uintptr_t)fdt_cell(reg, length, 4U * index) << 32 |
                             fdt_cell(reg, length, 4U * index + 1U);
}

static void find_pages(const void *fdt)
{
    static const char *const names[PAGES] = {"tessera,shared-flash",    "tessera,shared-ethernet",
                                             "tessera,shared-ethernet", "tessera,shared-copy",
                                             "tessera,shared-gpio",     "tessera,shared-display",
                                             "tessera,shared-uart",     "sifive,spi0"};
    uint32_t length;
    const void *own_mac = fdt_device(fdt, names[SEND], "local-mac-address", &length);

    print("hostile:");
    for (unsigned int i = 0; i < PAGES; i++) {
        pages[i] = page_of(fdt, names[i], i == RECEIVE ? 1 : 0);
        print(" %lx", pages[i]);
    }
    print("\n");
    if (own_mac != NULL) {
        memcpy(mac, own_mac, ETHERNET_ADDRESS);
    }
}

int main(unsigned long hart, const void *fdt)
{
    static void (*const attacks[])(void) = {write_anything, request,    forge,       command,
                                            show,           print_line, command_chip};
    const size_t number = sizeof(attacks) / sizeof(attacks[0]);

    (void)hart;
    uart_init();
    find_pages(fdt);
    trap_set_exception(skip);
    source = random_from(fdt_bootarg_number(fdt, "seed", 1));
    memset(own, 0xc3, sizeof(own)); /* pixels */
    for (unsigned long round = 1;; round++) {
        attacks[below(number)]();
        if (round % REPORT == 0) {
            print("hostile: %lu rounds, %lu traps\n", round, traps);
        }
    }
}
