/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot arguments:
 *   set=SPEC,SPEC,...   apps to start with a common first release (SPEC: see rtm_parse_spec); also
 *                       set2=, set3=
 *   each=N              starts each app of the sets N times
 *   releases=N          prints all figures and shuts down after N releases in total
 *   report=N            seconds between reports, 0: none, default 5
 *   role=latency        for the benchmark: latency.c
 */
#include <stddef.h>
#include <string.h>

#include "fdt.h"
#include "hcall.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rtm.h"
#include "timer.h"
#include "uart.h"

#define RTM_SET 640U
#define RTM_LINE 80U
#define RTM_POLL (PLATFORM_TIMEBASE_HZ / 20) /* ticks between polls of the keyboard */
/* ticks from the start of the apps to their first release */
#define RTM_FIRST (PLATFORM_TIMEBASE_HZ / 100)
#define RTM_REPORT_S 5UL

int main(unsigned long hart, const void *fdt);

/* Starts the apps that a boot argument names; returns how many. */
static unsigned int rtm_start_set(const void *fdt, const char *key, uint64_t first)
{
    static char set[RTM_SET];
    unsigned long each = fdt_bootarg_number(fdt, "each", 1);
    unsigned int started = 0;
    struct rtm_spec spec;
    const char *at = fdt_bootarg(fdt, key, set, sizeof(set));

    while (at != NULL && *at != '\0') {
        const char *end = rtm_parse_spec(at, &spec);

        if (end == NULL) {
            print("rtm: boot argument: expected period:budget:deadline:work[:hart], got '%s'\n",
                  at);
            return started;
        }
        for (unsigned long n = 0; n < each; n++) {
            started += rtm_start(&spec, first);
        }
        at = *end == ',' ? end + 1 : end;
    }
    return started;
}

static unsigned int rtm_start_all(const void *fdt)
{
    uint64_t first = machine_time() + RTM_FIRST;
    unsigned int started = rtm_start_set(fdt, "set", first);

    started += rtm_start_set(fdt, "set2", first);
    return started + rtm_start_set(fdt, "set3", first);
}

static void rtm_keyboard(void)
{
    static char line[RTM_LINE];
    static size_t length;

    for (int c = uart_get(); c >= 0; c = uart_get()) {
        if (c == '\r' || c == '\n') {
            line[length] = '\0';
            print("\n");
            rtm_command(line);
            length = 0;
        } else if (length < sizeof(line) - 1) {
            line[length++] = (char)c;
            uart_put((char)c);
        }
    }
}

static void rtm_sleep(uint64_t ticks)
{
    timer_set(machine_time() + ticks);
    machine_wait();
}

static _Noreturn void rtm_finish(void)
{
    struct rt_stats total = rtm_total();

    rtm_dump();
    print("rtm: %llu releases, %llu misses, %llu overruns\n", (unsigned long long)total.releases,
          (unsigned long long)total.misses, (unsigned long long)total.overruns);
    print("RTM done\n");
    machine_shutdown(false);
}

static _Noreturn void rtm_watch(unsigned long releases, uint64_t report)
{
    uint64_t next = machine_time() + report;

    for (;;) {
        (void)hcall_watchdog_pet();
        rtm_keyboard();
        if (releases != 0 && rtm_total().releases >= releases) {
            rtm_finish();
        }
        if (report != 0 && machine_time() >= next) {
            rtm_list();
            next += report;
        }
        rtm_sleep(RTM_POLL);
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[8];

    (void)hart;
    uart_init();
    (void)timer_init();
    machine_wake_by_timer(true); /* ends the wait; interrupts stay off */
    if (!hcall_present()) {
        print("rtm: expected to run in a Tessera VM with rt-apps\n");
        return 1;
    }
    if (fdt_bootarg(fdt, "role", role, sizeof(role)) != NULL && strcmp(role, "latency") == 0) {
        rtm_latency();
    }
    print("rtm: %u apps run\n", rtm_start_all(fdt));
    rtm_watch(fdt_bootarg_number(fdt, "releases", 0),
              fdt_bootarg_number(fdt, "report", RTM_REPORT_S) * PLATFORM_TIMEBASE_HZ);
}
