/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Toggles the lowest of the VM's pins at absolute times, which other VMs cannot delay: it gives the sequencer the pulses of the next
 * milliseconds, long before they are due. Words of the kernel's arguments: `half=` cycles from one edge to the next, `pulses=` in each
 * train, `trains=` before the VM ends; 0: never; `report=` trains from one line to the next.
 */
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_gpio.h"
#include "timer.h"
#include "uart.h"

#define LEAD_US 1000U /* from the first line to the first edge */

int main(unsigned long hart, const void *fdt);

static struct gpio gpio;
static unsigned int late, other; /* results: edges that were late, anything else */

static void take_results(void)
{
    struct gpio_result result;

    while (gpio_take(&gpio, &result)) {
        if (result.late) {
            late++;
        } else {
            other++;
        }
    }
}

static void sleep_until(uint64_t ticks)
{
    timer_set(ticks);
    machine_wake_by_timer(true);
    while (machine_time() < ticks) {
        machine_wait();
    }
    machine_wake_by_timer(false);
}

/* Appends a train as soon as the sequencer has room; it has when the first of those before begins. */
static int append(uint64_t first, uint32_t mask, const uint32_t half[2], uint32_t pulses)
{
    uint64_t train = gpio_to_ticks(&gpio, ((uint64_t)half[0] + half[1]) * pulses);
    int wrong = gpio_pulses(&gpio, first, mask, half, pulses);

    while (wrong == SHARED_FULL) {
        sleep_until(machine_time() + train / 2U);
        wrong = gpio_pulses(&gpio, first, mask, half, pulses);
    }
    return wrong;
}

int main(unsigned long hart, const void *fdt)
{
    uint32_t half = (uint32_t)fdt_bootarg_number(fdt, "half", 1000);
    uint32_t pulses = (uint32_t)fdt_bootarg_number(fdt, "pulses", 500);
    unsigned long trains = fdt_bootarg_number(fdt, "trains", 0), report = fdt_bootarg_number(fdt, "report", 10);
    const uint32_t high_low[2] = {half, half};
    uint64_t first, next;
    uint32_t mask;

    (void)hart;
    uart_init();
    timer_init();
    if (gpio_open(&gpio, fdt) != SHARED_OK || gpio.pins == 0) {
        print("pulse: FAILED: no pins\n");
        return 1;
    }
    mask = gpio.pins & -gpio.pins;
    (void)gpio_drive(&gpio, mask, mask);
    first = gpio_now(&gpio) + (uint64_t)LEAD_US * (gpio.clock_hz / 1000000U);
    print("pulse: pins 0x%x, edges every %u cycles from cycle %lu\n", mask, half, first);
    next = first;
    for (unsigned long i = 1; append(next, mask, high_low, pulses) == SHARED_OK && i != trains; i++) {
        next += 2U * (uint64_t)half * pulses;
        take_results();
        if (i % report == 0) {
            print("pulse: %lu pulses, %u late, %u other results\n", i * pulses, late, other);
        }
    }
    sleep_until(gpio_to_ticks(&gpio, next + 2U * (uint64_t)half * pulses) + 1U);
    take_results();
    print("pulse: done, %u late, %u other results\n", late, other);
    return 0;
}
