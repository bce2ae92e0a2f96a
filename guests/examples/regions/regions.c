/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints now and then which VM has which region of the fabric, and what each VM's requests for
 * accelerators took. Needs `accelerator-monitor`.
 *
 * Boot arguments:
 *   period=n  milliseconds from table to table (default 2000)
 *   tables=n  shuts down after so many tables, 0: never (default)
 */
#include "accel.h"
#include "fdt.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)

int main(unsigned long hart, const void *fdt);

static const char *region_state(uint32_t state)
{
    static const char *const names[] = {
        [ACCEL_REGION_IDLE] = "idle",           [ACCEL_REGION_BUSY] = "busy",
        [ACCEL_REGION_PREEMPT] = "stops",       [ACCEL_REGION_SWITCH] = "saves",
        [ACCEL_REGION_RECONFIG] = "configures", [ACCEL_REGION_HOLD] = "reserved",
    };

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static const char *client_state(uint64_t status)
{
    if ((status & ACCEL_STATUS_CONNECTED) != 0) {
        return "connected";
    }
    if ((status & ACCEL_STATUS_FAILED) != 0) {
        return "failed";
    }
    return (status & ACCEL_STATUS_WAITING) != 0 ? "waits" : "-";
}

static struct hcall_ret print_regions(void)
{
    struct hcall_ret ret = {HCALL_OK, 1};

    print("region  state       VM        device    task  configured in\n");
    for (unsigned long i = 0; i < ret.value && ret.error == HCALL_OK; i++) {
        struct accel_region r;

        ret = accel_get_region(i, &r);
        if (ret.error == HCALL_OK && i < ret.value) {
            print("%6lu  %-10s  %-8s  %-8s  %4u  %lu cycles\n", i, region_state(r.state), r.vm,
                  r.device, r.task, (unsigned long)r.cycles);
        }
    }
    return ret;
}

static struct hcall_ret print_clients(void)
{
    struct hcall_ret ret = {HCALL_OK, 1};

    print("VM        device    priority  state      path 1     2     3     4  waits   lost  "
          "faults\n");
    for (unsigned long i = 0; i < ret.value && ret.error == HCALL_OK; i++) {
        struct accel_client c;

        ret = accel_get_client(i, &c);
        if (ret.error == HCALL_OK && i < ret.value) {
            print("%-8s  %-8s  %8u  %-9s  %6lu %5lu %5lu %5lu  %5lu  %5lu  %6lu\n", c.vm, c.device,
                  (unsigned int)(c.status >> 16 & 0xffU), client_state(c.status),
                  (unsigned long)c.stats.paths[0], (unsigned long)c.stats.paths[1],
                  (unsigned long)c.stats.paths[2], (unsigned long)c.stats.paths[3],
                  (unsigned long)c.stats.waits, (unsigned long)c.stats.losses,
                  (unsigned long)c.stats.faults);
        }
    }
    return ret;
}

static void wait_until(uint64_t time)
{
    timer_set(time);
    machine_wake_by_timer(true);
    while (machine_time() < time) {
        machine_wait();
    }
}

int main(unsigned long hart, const void *fdt)
{
    unsigned long period = fdt_bootarg_number(fdt, "period", 2000),
                  tables = fdt_bootarg_number(fdt, "tables", 0);
    struct accel_region first;
    struct hcall_ret ret;

    (void)hart;
    uart_init();
    (void)timer_init();
    ret = accel_get_region(0, &first); /* whether the VM may */
    for (unsigned long i = 0; (tables == 0 || i < tables) && ret.error == HCALL_OK; i++) {
        wait_until(machine_time() + period * MS);
        ret = print_regions();
        if (ret.error == HCALL_OK) {
            ret = print_clients();
        }
    }
    print(ret.error == HCALL_OK ? "regions: done\n"
                                : "regions: refused: does the VM have accelerator-monitor?\n");
    return ret.error != HCALL_OK;
}
