/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RT app that toggles the lowest of the VM's pins at absolute times, which other VMs cannot
 * delay: each release gives the sequencer the next trains of pulses, as many as it has space for,
 * long before they are due. The pins are declared.
 *
 * Words of the kernel's arguments: `half=` cycles from one edge to the next, `pulses=` in each
 * train, `distance=` us from one train to the next, 0: without pause; `trains=` before the VM ends,
 * 0: never; `report=` trains from one line to the next; `period=`, `budget=`, `deadline=` us of the
 * app; `device=` us until the sequencer has taken a release's commands.
 */
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_app.h"
#include "shared_gpio.h"
#include "timer.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define LEAD_US 1000U   /* from the first line to the first edge */
#define REPORT_US 1000U /* from one look at the counters to the next */

int main(unsigned long hart, const void *fdt);

/* Owner: the app, once it is launched. The main program reads the counters. */
struct pulse {
    struct shared_app app;
    struct gpio gpio;
    uint32_t mask, half, pulses;
    /* cycles: first edge of the first train, from there to that of the next train */
    uint64_t first, distance;
    unsigned long trains; /* 0: without end */
    volatile unsigned long appended;
    volatile unsigned int late, other; /* results: edges that were late, anything else */
    volatile int wrong;                /* of the last train that was not appended */
};

static void take_results(struct pulse *p)
{
    struct gpio_result result;

    while (gpio_take(&p->gpio, &result)) {
        if (result.late) {
            p->late++;
        } else {
            p->other++;
        }
    }
}

static void release(void *argument)
{
    struct pulse *p = argument;
    const uint32_t high_low[2] = {p->half, p->half};

    take_results(p);
    p->wrong = SHARED_OK;
    while (p->wrong == SHARED_OK && (p->trains == 0 || p->appended < p->trains)) {
        p->wrong = gpio_pulses(&p->gpio, p->first + p->appended * p->distance, p->mask, high_low,
                               p->pulses);
        p->appended += p->wrong == SHARED_OK;
    }
}

static bool open_pins(struct pulse *p, const void *fdt)
{
    uint64_t us;

    if (gpio_open(&p->gpio, fdt) != SHARED_OK || p->gpio.pins == 0) {
        print("pulse: FAILED: no pins\n");
        return false;
    }
    us = p->gpio.clock_hz / 1000000U;
    p->mask = p->gpio.pins & -p->gpio.pins;
    p->half = (uint32_t)fdt_bootarg_number(fdt, "half", 1000);
    p->pulses = (uint32_t)fdt_bootarg_number(fdt, "pulses", 500);
    p->trains = fdt_bootarg_number(fdt, "trains", 0);
    p->distance = fdt_bootarg_number(fdt, "distance", 0) * us;
    if (p->distance == 0) {
        p->distance = 2U * (uint64_t)p->half * p->pulses;
    }
    (void)gpio_drive(&p->gpio, p->mask, p->mask);
    return true;
}

static bool start(struct pulse *p, const void *fdt)
{
    if (!shared_app_create(&p->app, fdt) ||
        !shared_app_declare(&p->app, SHARED_GPIO,
                            (uint32_t)fdt_bootarg_number(fdt, "device", 10))) {
        return false;
    }
    p->first = gpio_now(&p->gpio) + (uint64_t)LEAD_US * (p->gpio.clock_hz / 1000000U);
    print("pulse: pins 0x%x, %u pulses every %lu cycles from cycle %lu, edges every %u cycles\n",
          p->mask, p->pulses, (unsigned long)p->distance, (unsigned long)p->first, p->half);
    return shared_app_launch(&p->app);
}

static void report(const struct pulse *p, unsigned long trains)
{
    struct rt_stats s = {0};

    (void)rt_get_stats(p->app.id, &s);
    print("pulse: %lu pulses, %u late, %u other results; %lu releases, %lu misses\n",
          trains * p->pulses, p->late, p->other, (unsigned long)s.releases,
          (unsigned long)s.misses);
}

/* Until the last train is over, if there is one. */
static void report_trains(const struct pulse *p, unsigned long every)
{
    unsigned long next = every;

    while (p->wrong != SHARED_INVALID && (p->trains == 0 || p->appended < p->trains)) {
        timer_sleep_until(machine_time() + REPORT_US * TICKS_US);
        for (; every != 0 && p->appended >= next; next += every) {
            report(p, next);
        }
    }
    /* The app takes the last results in the release after them. */
    timer_sleep_until(gpio_to_ticks(&p->gpio, p->first + p->trains * p->distance) +
                      2U * REPORT_US * TICKS_US);
}

int main(unsigned long hart, const void *fdt)
{
    static struct pulse pulse = {.app = {.task = {release, &pulse},
                                         .guest = "pulse",
                                         .period_us = 1000,
                                         .budget_us = 50,
                                         .deadline_us = 100}};
    struct pulse *p = &pulse;

    (void)hart;
    uart_init();
    timer_init();
    if (!open_pins(p, fdt) || !start(p, fdt)) {
        return 1;
    }
    report_trains(p, fdt_bootarg_number(fdt, "report", 10));
    if (p->wrong == SHARED_INVALID) {
        print("pulse: FAILED: expected half= of at least %u cycles and pulses= of 1 to %u\n",
              GPIO_SHORTEST_PULSE, UINT16_MAX);
        return 1;
    }
    print("pulse: done, %u late, %u other results\n", p->late, p->other);
    return 0;
}
