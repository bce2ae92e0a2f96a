/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks through the pages of shared devices: writes anything anywhere in them, requests that no driver makes, addresses outside of
 * the VM, other VMs' sectors, pins and MAC addresses. It never reads a completion, and skips instructions that trap. Word of the
 * kernel's arguments: `seed=`.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "shared_ethernet.h"
#include "shared_gpio.h"
#include "uart.h"

#define PAGES 4U
#define REGISTERS 12U /* words of 64 bits of a page, some of which are no registers */
#define SUBMIT 8U     /* offsets: fabric_channel, fabric_gpio */
#define RING 0x18U
#define SECTORS 256U
#define REPORT 8192U /* rounds */
#define OWN_BYTES 65536U
#define ALIGNED __attribute__((aligned(128)))

int main(unsigned long hart, const void *fdt);

static struct random source;
static uintptr_t pages[PAGES]; /* flash, Ethernet send and receive, GPIO */
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
    const uint64_t some[] = {(uintptr_t)own, (uintptr_t)own + below(64), 0x7ffffff8, 0x803ffff0, 0x80400000, 0,
                             0x18200000,     PLATFORM_PLIC_BASE,         0x90000000, any() >> 23};

    return some[below(sizeof(some) / sizeof(some[0]))];
}

/* Any value, with any width, at any place of a page, or of a page that the VM does not have. */
static void write_anything(void)
{
    uintptr_t page = below(16) == 0 ? (0x18200000UL + 0x1000UL * below(512)) : pages[below(PAGES)];
    uintptr_t place = page + 8U * below(REGISTERS);

    switch (below(16)) {
    case 0:
        *(volatile uint32_t *)(place + 4U * below(2)) = (uint32_t)any();
        break;
    case 1:
        *(volatile uint8_t *)(place + below(8)) = (uint8_t)any();
        break;
    case 2:
        (void)*(volatile uint32_t *)place;
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
    uintptr_t page = pages[below(PAGES - 1U)];
    uint64_t target = below(SECTORS) * 65536U + (below(2) == 0 ? 0 : below(65536));

    if (below(8) == 0) {
        store(page + RING, any_address());
    }
    store(page, any_address());
    store(page + SUBMIT, below(4) | below(256) << 8 | (uint64_t)lengths[below(7)] << 16 | target << 32);
}

/* A frame of another VM's address, with a tag, for the link, or to all. */
static void forge(void)
{
    static const uint8_t to[][ETHERNET_ADDRESS] = {
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {1, 0x80, 0xc2, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}};
    static const uint8_t types[][2] = {{8, 0}, {8, 6}, {0x81, 0}, {0x88, 8}, {0x88, 0xb5}};

    memcpy(own, to[below(4)], ETHERNET_ADDRESS);
    memcpy(own + ETHERNET_ADDRESS, mac, ETHERNET_ADDRESS);
    if (below(2) == 0) {
        own[11] = (uint8_t)below(8);
    }
    memcpy(own + 12, types[below(5)], 2);
    store(pages[1], (uintptr_t)own);
    store(pages[1] + SUBMIT, below(256) << 8 | (14U + below(1500)) << 16);
}

/* Commands for all pins, at all times. */
static void command(void)
{
    uint64_t op = 1U + below(15);
    uint64_t delay = below(4) == 0 ? any() & 0xffffffU : below(64);

    store(pages[3], below(2) << 63 | op << 59 | (any() & (((uint64_t)1 << 57) - 1U) & ~(uint64_t)0xffffffU) | delay);
    store(pages[3] + SUBMIT, below(32) == 0 ? 2 : 1);
}

static void find_pages(const void *fdt)
{
    static const char *const names[] = {"tessera,shared-flash", "tessera,shared-ethernet", "tessera,shared-gpio"};
    struct shared_device devices[3];
    uint32_t length;
    const void *own_mac = fdt_device(fdt, names[1], "local-mac-address", &length);

    for (unsigned int i = 0; i < 3; i++) {
        if (shared_find(&devices[i], fdt, names[i]) != SHARED_OK) {
            print("hostile: FAILED: no %s\n", names[i]);
            machine_shutdown(true);
        }
    }
    pages[0] = devices[0].pages[0];
    pages[1] = devices[1].pages[0];
    pages[2] = devices[1].pages[1];
    pages[3] = devices[2].pages[0];
    if (own_mac != NULL) {
        memcpy(mac, own_mac, ETHERNET_ADDRESS);
    }
}

int main(unsigned long hart, const void *fdt)
{
    static void (*const attacks[])(void) = {write_anything, request, forge, command};

    (void)hart;
    uart_init();
    find_pages(fdt);
    trap_set_exception(skip);
    source = random_from(fdt_bootarg_number(fdt, "seed", 1));
    for (unsigned long round = 1;; round++) {
        attacks[below(4)]();
        if (round % REPORT == 0) {
            print("hostile: %lu rounds, %lu traps\n", round, traps);
        }
    }
}
