/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RT app that reads the shared flash, with a deadline. Each release takes the bytes of the read
 * that the release before has submitted, compares them with what the VM has programmed, and submits
 * the next read. The app does not wait for the device: the read is declared, so the hypervisor
 * launches the app only if no other VM can make it late.
 *
 * Words of the kernel's arguments: `period=`, `budget=`, `deadline=` us of the app; `bytes=` of
 * each read; `device=` us that a read takes while no other VM uses the flash; `samples=` reads
 * before the VM ends.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_app.h"
#include "shared_flash.h"
#include "timer.h"
#include "uart.h"

#define MOST_BYTES 4096U
#define PROGRAMMED 8192U /* bytes from the start of the window */
#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

/* Owner: the app, once it is launched. The main program reads the counters. */
struct sampler {
    struct flash flash;
    uint16_t bytes;
    uint32_t address;
    bool waiting;
    volatile unsigned int taken, late, wrong;
    uint8_t data[MOST_BYTES];
};

static struct sampler sampler;
static uint8_t pattern[PROGRAMMED]; /* constant after fill() */

static int fill(struct flash *flash)
{
    int wrong = flash_erase(flash, 0);

    for (unsigned int i = 0; i < PROGRAMMED; i++) {
        pattern[i] = (uint8_t)(i * 7U + i / 251U);
    }
    return wrong != SHARED_OK ? wrong : flash_program(flash, 0, pattern, PROGRAMMED);
}

static void take(struct sampler *s)
{
    struct shared_completion done;

    if (!shared_take(&s->flash.channel, &done)) {
        s->late++;
        return;
    }
    s->waiting = false;
    s->taken++;
    s->wrong += done.status != SHARED_OK || memcmp(s->data, pattern + s->address, s->bytes) != 0;
}

static void release(void *argument)
{
    struct sampler *s = argument;

    if (s->waiting) {
        take(s);
    }
    if (!s->waiting) {
        s->address = (s->address + 977U) % (PROGRAMMED - MOST_BYTES);
        memset(s->data, 0, s->bytes);
        s->waiting = flash_submit_read(&s->flash, s->address, s->data, s->bytes, 0) == SHARED_OK;
    }
}

/* The app reads what the VM has programmed before its launch. */
static bool start(struct sampler *s, const void *fdt)
{
    static struct shared_app app = {.task = {release, &sampler},
                                    .guest = "sampler",
                                    .period_us = 1000,
                                    .budget_us = 50,
                                    .deadline_us = 100};
    int wrong;

    if (!shared_app_create(&app, fdt) ||
        !shared_app_declare(&app, SHARED_FLASH, (uint32_t)fdt_bootarg_number(fdt, "device", 100))) {
        return false;
    }
    print("sampler: a read takes at most %lu us beside all other VMs\n", app.longest_us);
    wrong = fill(&s->flash);
    if (wrong != SHARED_OK) {
        print("sampler: FAILED: the flash is not programmed, error %d\n", wrong);
        return false;
    }
    return shared_app_launch(&app);
}

static void wait_us(uint64_t us)
{
    uint64_t until = machine_time() + us * TICKS_US;

    timer_set(until);
    machine_wake_by_timer(true);
    while (machine_time() < until) {
        machine_wait();
    }
}

int main(unsigned long hart, const void *fdt)
{
    unsigned long samples = fdt_bootarg_number(fdt, "samples", 100),
                  bytes = fdt_bootarg_number(fdt, "bytes", 64);
    struct sampler *s = &sampler;

    (void)hart;
    uart_init();
    (void)timer_init();
    s->bytes = (uint16_t)(bytes < MOST_BYTES ? bytes : MOST_BYTES);
    if (flash_open(&s->flash, fdt) != SHARED_OK) {
        print("sampler: FAILED: no flash\n");
        return 1;
    }
    if (!start(s, fdt)) {
        return 1;
    }
    while (s->taken + s->late < samples) {
        wait_us(1000);
    }
    print("sampler: %u reads in time, %u late, %u wrong\n", s->taken, s->late, s->wrong);
    print("sampler: done\n");
    return s->late + s->wrong != 0;
}
