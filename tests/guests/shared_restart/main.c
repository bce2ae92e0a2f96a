/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has requests that write to its memory all the time, for a test that restarts the VM. Each life
 * first looks whether anything is written to its memory, which is cleared at a start, before it
 * makes requests of its own; then it uses the devices. Words of the kernel's arguments: `quiet=` us
 * of looking.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_ethernet.h"
#include "shared_flash.h"
#include "shared_gpio.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define PART 32768U
#define PARTS 4U
#define FRAMES 4U
#define FRAME 2048U
#define WORDS (sizeof(area) / sizeof(uint64_t))
#define ROUNDS 8U /* from one line to the next */

int main(unsigned long hart, const void *fdt);

/* What the devices write; the rings are in the structs. */
static struct {
    uint8_t parts[PARTS][PART];
    uint8_t frames[FRAMES][FRAME];
    struct flash flash;
    struct ethernet port;
} area;
static uint8_t frame[1000];
static struct gpio gpio;

static bool is_clear(void)
{
    const volatile uint64_t *words = (const volatile uint64_t *)&area;

    for (size_t i = 0; i < WORDS; i++) {
        if (words[i] != 0) {
            print("restart: FAILED: 0x%lx at offset 0x%lx\n", words[i], i * sizeof(uint64_t));
            return false;
        }
    }
    return true;
}

static bool stays_clear(uint64_t ticks)
{
    uint64_t end = machine_time() + ticks;
    bool clear = is_clear();

    while (clear && machine_time() < end) {
        clear = is_clear();
    }
    return clear;
}

static bool open_all(const void *fdt)
{
    bool opened = flash_open(&area.flash, fdt) == SHARED_OK &&
                  ethernet_open(&area.port, fdt) == SHARED_OK && gpio_open(&gpio, fdt) == SHARED_OK;

    if (opened) {
        memcpy(frame, area.port.mac, ETHERNET_ADDRESS);
        memcpy(frame + ETHERNET_ADDRESS, area.port.mac, ETHERNET_ADDRESS);
        frame[12] = 0x88; /* local experimental EtherType 0x88b5 */
        frame[13] = 0xb5;
    }
    return opened;
}

/* The pattern that the VM finds in its flash; the first life writes it. */
static bool prepare(void)
{
    static uint8_t pattern[256];

    for (unsigned int i = 0; i < sizeof(pattern); i++) {
        pattern[i] = (uint8_t)(i ^ 0x5aU);
    }
    return flash_program(&area.flash, 0, pattern, sizeof(pattern)) == SHARED_OK;
}

/* Whether all requests that are over have done what they should. */
static bool take(void)
{
    struct shared_completion done;
    bool right = true;

    while (shared_take(&area.flash.channel, &done)) {
        right = right && done.status == SHARED_OK && area.parts[done.tag][1] == (1U ^ 0x5aU);
    }
    while (shared_take(&area.port.send, &done)) {
        right = right && done.status == SHARED_OK;
    }
    while (shared_take(&area.port.receive, &done)) {
        right = right && done.status == SHARED_OK &&
                memcmp(area.frames[done.tag], frame, sizeof(frame)) == 0;
    }
    return right;
}

/* Fills all FIFOs; frames go to the VM itself. */
static void refill(void)
{
    static uint8_t part, buffer;

    while (flash_submit_read(&area.flash, 0, area.parts[part % PARTS], PART, part % PARTS) ==
           SHARED_OK) {
        part++;
    }
    while (ethernet_post(&area.port, area.frames[buffer % FRAMES], FRAME, buffer % FRAMES) ==
           SHARED_OK) {
        buffer++;
    }
    while (ethernet_submit(&area.port, frame, sizeof(frame), 0) == SHARED_OK) {
    }
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t quiet = fdt_bootarg_number(fdt, "quiet", 1000) * TICKS_US;
    bool right = true;

    (void)hart;
    uart_init();
    if (!stays_clear(quiet)) {
        return 1;
    }
    print("restart: clear\n");
    if (!open_all(fdt) || !prepare()) {
        print("restart: FAILED: the devices do not work\n");
        return 1;
    }
    (void)gpio_drive(&gpio, gpio.pins, gpio.pins);
    for (unsigned long round = 1; right; round++) {
        uint64_t next = machine_time() + 100U * TICKS_US;

        right = take();
        refill();
        (void)gpio_set_at(&gpio, gpio_now(&gpio) + 1000U, gpio.pins,
                          round % 2 == 0 ? gpio.pins : 0);
        while (machine_time() < next) {
        }
        if (round % ROUNDS == 0) {
            print("restart: round %lu\n", round);
        }
    }
    print("restart: FAILED: a completion or its data are wrong\n");
    return 1;
}
