/* SPDX-License-Identifier: Apache-2.0 */
/* Pads 2n and 2n + 1 are connected: the VM drives the even ones, and sees their levels at the odd
 * ones two cycles later. */
#include <stddef.h>

#include "machine.h"
#include "print.h"
#include "shared_gpio.h"
#include "shared_test.h"

#define SYNCHRONIZED 2U /* cycles from a pad to a result */
#define AHEAD 3000U     /* cycles */

static struct gpio gpio;
static uint32_t out, in; /* the lowest pin, and its neighbour */

static bool next(struct gpio_result *result)
{
    uint64_t end = machine_time() + PLATFORM_TIMEBASE_HZ / 1000U;

    while (machine_time() < end) {
        if (gpio_take(&gpio, result)) {
            return true;
        }
    }
    return false;
}

static void check_times(void)
{
    uint64_t before = machine_time(), now = gpio_now(&gpio);

    /* In co-simulation an access takes cycles of the devices, but no virtual time: after some
     * polling they are ahead of the harts. */
    must(gpio_from_ticks(&gpio, before) <= now + 10U, "the same time");
    must(gpio_from_ticks(&gpio, 12345) == 12345U * (gpio.clock_hz / gpio.timebase_hz),
         "from ticks");
    must(gpio_to_ticks(&gpio, gpio_from_ticks(&gpio, before)) == before, "to ticks");
}

/* Levels just before and after a change. */
static void check_set(void)
{
    uint64_t at = gpio_now(&gpio) + AHEAD;
    struct gpio_result low, high, later;

    must(gpio_set_at(&gpio, at, out, out) == SHARED_OK, "set");
    must(gpio_sample_after(&gpio, SYNCHRONIZED - 1U) == SHARED_OK, "sample before the edge");
    must(gpio_sample_after(&gpio, 1) == SHARED_OK, "sample after the edge");
    must(next(&low) && next(&high), "two samples");
    must(gpio_sample_at(&gpio, at + AHEAD) == SHARED_OK && next(&later), "a sample later");
    must(later.time == at + AHEAD && !later.late, "the time of a sample");
    must(low.time == at + SYNCHRONIZED - 1U && (low.pins & in) == 0 && low.op == GPIO_SAMPLE,
         "the first sample");
    must(high.time == at + SYNCHRONIZED && (high.pins & in) != 0 && !high.late,
         "the second sample");
}

/* A capture does not see edges before its begin; it has the time of the edge. */
static void check_capture(unsigned int pin)
{
    uint64_t at = gpio_now(&gpio) + AHEAD;
    const uint32_t high_low[2] = {100, 300};
    struct gpio_result edge;

    must(gpio_pulses(&gpio, at, out, high_low, 3) == SHARED_OK, "pulses");
    must(!next(&edge), "pulses are not late");
    at = gpio_now(&gpio) + AHEAD;
    must(gpio_set_at(&gpio, at, out, out) == SHARED_OK, "set for a capture");
    must(gpio_capture_after(&gpio, pin, GPIO_RISING, 1000) == SHARED_OK, "capture");
    must(next(&edge) && !edge.timeout && edge.time == at + SYNCHRONIZED, "the edge's time");
    at = gpio_now(&gpio) + AHEAD;
    must(gpio_capture(&gpio, pin, GPIO_RISING, at, at + 50U) == SHARED_OK, "capture of nothing");
    must(next(&edge) && edge.timeout && edge.time == at + 50U, "no edge");
}

static void check_errors(void)
{
    struct gpio_result wrong;
    uint32_t foreign = ~gpio.pins & 0xffffU;

    must(gpio_set_at(&gpio, gpio_now(&gpio) + AHEAD, out | foreign, 0) == SHARED_OK,
         "set foreign pins");
    must(next(&wrong) && wrong.forbidden && wrong.op == GPIO_SET, "foreign pins");
    must(gpio_set_at(&gpio, gpio_now(&gpio) - 100U, out, 0) == SHARED_OK, "set in the past");
    must(next(&wrong) && wrong.late && wrong.by >= 100U, "late");
    must(gpio_set_at(&gpio, 0, 0x18000, 0) == SHARED_INVALID, "pins of two banks");
    must(gpio_set_after(&gpio, 0, out, 0) == SHARED_INVALID, "no delay");
    must(gpio_pulses(&gpio, 0, out, (const uint32_t[2]){1, 9}, 1) == SHARED_INVALID,
         "a short pulse");
    must(gpio_capture(&gpio, 32, GPIO_RISING, 1, 2) == SHARED_INVALID, "a pin too many");
    must(!next(&wrong), "no further result");
}

static void check_full(void)
{
    uint64_t at = gpio_now(&gpio) + 1000U * AHEAD;
    unsigned int count = 0, space = gpio_space(&gpio);

    while (gpio_set_at(&gpio, at + count, out, out) == SHARED_OK) {
        count++;
    }
    must(count >= space / 2U && count <= space / 2U + 1U, "commands that fit");
    gpio_stop(&gpio);
    must(gpio_space(&gpio) == space, "a stop removes the commands");
}

void check_gpio(const void *fdt, unsigned long hart)
{
    unsigned int pin = 0;

    (void)hart;
    must(gpio_open(&gpio, fdt) == SHARED_OK, "open the pins");
    while (pin < 30 && (gpio.pins >> pin & 1U) == 0) {
        pin += 2;
    }
    out = 1U << pin;
    in = out << 1;
    print("shared: pins 0x%x\n", gpio.pins);
    must(gpio_drive(&gpio, out, out) == SHARED_OK, "drive");
    check_times();
    check_set();
    must(gpio_set_at(&gpio, gpio_now(&gpio) + AHEAD, out, 0) == SHARED_OK, "low again");
    check_capture(pin + 1U);
    check_errors();
    check_full();
    print("shared: pins tested\n");
}
