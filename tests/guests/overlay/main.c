/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlays of the fabric (tests/e2e/test_overlays.py). The word `mode=` of the kernel's arguments
 * selects:
 *
 *   control  applies and removes overlay 0 `rounds=` times, prints the ticks of each phase, and
 *            shuts down
 *   user     prints the status of its device aes128 in the device tree, uses the device while it is
 *            there, and prints when it comes and
 *            goes; the first time that the device is there, it restarts
 */
#include <string.h>

#include "accel.h"
#include "accel_soft.h"
#include "fdt.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "timer.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define BYTES 512U

int main(unsigned long hart, const void *fdt);

/* --- the VM that controls the overlay --- */

static void print_status(const char *what, const struct accel_overlay *s)
{
    print("overlay: %s: state %u, failed %u, region %u, ticks", what, s->state, s->failed,
          s->region);
    for (unsigned int i = 0; i < ACCEL_PHASES; i++) {
        print(" %lu", (unsigned long)s->ticks[i]);
    }
    print("\n");
}

/* Waits for the end of the transaction; the time that it took with all that surrounds it, in
 * ticks. */
static void finish(const char *what, long error, uint64_t begun)
{
    struct accel_overlay status;
    uint64_t took;

    do {
        error = error == HCALL_OK ? accel_overlay_status(0, &status) : error;
        took = machine_time() - begun;
        timer_sleep_until(machine_time() + MS / 100U);
    } while (error == HCALL_OK &&
             (status.state == ACCEL_OVERLAY_APPLYING || status.state == ACCEL_OVERLAY_REMOVING));
    if (error != HCALL_OK) {
        print("overlay: %s: error %ld\n", what, error);
    } else {
        print_status(what, &status);
        print("overlay: %s took at most %lu ticks\n", what, (unsigned long)took);
    }
}

static void control(const void *fdt)
{
    unsigned long rounds = fdt_bootarg_number(fdt, "rounds", 3),
                  pause = fdt_bootarg_number(fdt, "pause", 20);

    for (unsigned long i = 0; i < rounds; i++) {
        uint64_t begun;

        timer_sleep_until(machine_time() + pause * MS);
        begun = machine_time();
        finish("apply", accel_apply_overlay(0), begun);
        timer_sleep_until(machine_time() + pause * MS);
        begun = machine_time();
        finish("remove", accel_remove_overlay(0), begun);
    }
    print("overlay: done\n");
}

/* --- the VM with the device --- */

/* The status of the first accelerator's node: a value that no other node has behind the name. */
static const char *status_of(const void *fdt)
{
    static const char node[] = "accelerator@";
    static const uint8_t okay[] = {0, 0, 0, 3, 0, 0, 0, 5}, disabled[] = {0, 0, 0, 3, 0, 0, 0, 9};
    const uint8_t *bytes = fdt, *at = bytes;
    uint32_t size =
        (uint32_t)bytes[4] << 24 | (uint32_t)bytes[5] << 16 | (uint32_t)bytes[6] << 8 | bytes[7];

    while (at < bytes + size - 32 && memcmp(at, node, sizeof(node) - 1U) != 0) {
        at += 4;
    }
    for (; at < bytes + size - 32; at += 4) {
        if (memcmp(at, okay, sizeof(okay)) == 0 && memcmp(at + 12, "okay", 5) == 0) {
            return "okay";
        }
        if (memcmp(at, disabled, sizeof(disabled)) == 0 && memcmp(at + 12, "disabled", 9) == 0) {
            return "disabled";
        }
    }
    return "missing";
}

/* A job on the device; the number of words that differ from software's. The device may go
 * meanwhile: a VM that is told to stop using it first does not see that. */
static unsigned int work(const struct accel *a)
{
    static uint64_t input[BYTES / 8U], output[BYTES / 8U], expected[BYTES / 8U];
    struct accel_job job = {
        .size = BYTES, .input = input, .output = expected, .custom = {1, 2, 3, 4}};
    unsigned int wrong = 0;

    for (unsigned int i = 0; i < BYTES / 8U; i++) {
        input[i] = machine_time() * 0x9e3779b97f4a7c15UL;
    }
    (void)accel_soft_aes128(&job);
    job.output = output;
    (void)accel_run(a, &job);
    for (unsigned int i = 0; i < BYTES / 8U; i++) {
        wrong += output[i] != expected[i];
    }
    return wrong;
}

static void user(const void *fdt)
{
    const char *status = status_of(fdt);
    bool there = false, first = strcmp(status, "disabled") == 0;

    print("user: status %s\n", status);
    for (;;) {
        struct accel a;
        bool now = accel_open(&a, "aes128") == 0;

        if (now && !there) {
            print("user: the device is there, %u words wrong\n", work(&a));
        } else if (there && !now) {
            print("user: the device is gone\n");
        }
        there = now;
        if (now && first) {
            machine_reboot();
        }
        timer_sleep_until(machine_time() + MS);
    }
}

int main(unsigned long hart, const void *fdt)
{
    char mode[16];

    (void)hart;
    (void)timer_init();
    if (fdt_bootarg(fdt, "mode", mode, sizeof(mode)) == NULL) {
        print("overlay: no mode= in the arguments\n");
        return 1;
    }
    if (mode[0] == 'u') {
        user(fdt);
    }
    control(fdt);
    return 0;
}
