/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the shared GPIO: a sequencer of the VM's own executes commands on its pins, each in the
 * exact cycle of its time.
 *
 * Times are cycles of the device's clock since the machine started, the same instants as
 * machine_time(): gpio_from_ticks() and gpio_to_ticks() convert. A command at time t changes the
 * pins at the clock edge with which that cycle begins. Commands are executed in the order in which
 * they are appended. One that is appended less than GPIO_LEAD cycles before its time, or whose time
 * is less than GPIO_LEAD cycles after that of the command before it, is executed as soon as
 * possible, and a result tells by how many cycles it was late. Functions with a delay instead of a
 * time have no such distance.
 *
 * Masks and values: bit n is pin n. Other VMs' pins do not change, and a result tells that a
 * command had some.
 *
 * Functions that append commands return SHARED_OK, SHARED_INVALID (nothing is appended), or
 * SHARED_FULL if the sequencer's memory has no room for all commands of the call (nothing is
 * appended).
 */
#ifndef GUEST_SHARED_GPIO_H
#define GUEST_SHARED_GPIO_H

#include "shared.h"

#define GPIO_LEAD 3U                                  /* cycles */
#define GPIO_LONGEST_DELAY ((UINT32_C(1) << 24) - 1U) /* cycles; longer: gpio_wait() */
#define GPIO_SHORTEST_PULSE 4U                        /* cycles */
#define GPIO_RISING 1U                                /* edges of gpio_capture() */
#define GPIO_FALLING 2U

/** Commands, in gpio_result.op. */
enum gpio_op {
    GPIO_WAIT = 1,
    GPIO_UNTIL = 2,
    GPIO_SET = 3,
    GPIO_WRITE = 4,
    GPIO_DRIVE = 5,
    GPIO_SAMPLE = 6,
    GPIO_CAPTURE = 7,
    GPIO_LOOP = 8,
    GPIO_REPEAT = 9,
    GPIO_PAUSE = 10,
    GPIO_END = 11,
};

struct gpio {
    uintptr_t page;
    uint32_t irq, clock_hz;
    uint32_t timebase_hz; /* of machine_time() */
    uint32_t pins;        /* the VM's */
};

/** Of a sample, a capture, or a command that went wrong. */
struct gpio_result {
    uint64_t time; /* of its effect */
    /* levels of the VM's pins in that cycle; inputs are those of the pads two cycles before */
    uint32_t pins;
    uint8_t op;
    bool late, forbidden, bad; /* executed too late; had another VM's pins; no known command */
    bool timeout;              /* a capture without an edge */
    uint16_t by;               /* cycles too late; UINT16_MAX: as many or more */
};

/** Opens the VM's pins and starts its sequencer, without commands. Pins keep their levels.
 * SHARED_OK or SHARED_NO_DEVICE. */
int gpio_open(struct gpio *gpio, const void *fdt);

/** The present time, from the device. In co-simulation it may be ahead of machine_time()
 * (docs/fabric.md). */
uint64_t gpio_now(const struct gpio *gpio);

/** Converts from ticks of machine_time() to cycles, and back, rounded down. */
uint64_t gpio_from_ticks(const struct gpio *gpio, uint64_t ticks);
uint64_t gpio_to_ticks(const struct gpio *gpio, uint64_t cycles);

/** Commands that fit into the sequencer's memory. */
unsigned int gpio_space(const struct gpio *gpio);

/**
 * Makes pins with a 1 in `value` outputs, the others in `mask` inputs, soon: a few cycles after the
 * command before. Mask: pins 0 to 15 or pins 16 to 31, otherwise SHARED_INVALID. One command.
 */
int gpio_drive(const struct gpio *gpio, uint32_t mask, uint32_t value);

/**
 * Sets the levels of output pins at `time`, at most 2^47 cycles from now. Mask: pins 0 to 15, pins
 * 16 to 31, or all pins of the VM, otherwise SHARED_INVALID. Two commands.
 */
int gpio_set_at(const struct gpio *gpio, uint64_t time, uint32_t mask, uint32_t value);

/** The same, 1 to GPIO_LONGEST_DELAY cycles after the time of the command before: that delays are
 * exact, too. One command. */
int gpio_set_after(const struct gpio *gpio, uint32_t delay, uint32_t mask, uint32_t value);

/** The delay of the next command begins `delay` cycles later, less than 2^47. One command. */
int gpio_wait(const struct gpio *gpio, uint64_t delay);

/**
 * `count` pulses, 1 to 65535: pins of `mask` (as in gpio_set_at()) rise at `first`, fall `high`
 * cycles later, and rise again after `low` more; GPIO_SHORTEST_PULSE to GPIO_LONGEST_DELAY. With
 * `first` at least `low` cycles from now, and GPIO_LEAD more. Five commands, of any number of
 * pulses.
 */
int gpio_pulses(const struct gpio *gpio, uint64_t first, uint32_t mask, const uint32_t high_low[2],
                uint32_t count);

/** A result with the pins' levels at `time`. Two commands. */
int gpio_sample_at(const struct gpio *gpio, uint64_t time);

/** The same, 1 to GPIO_LONGEST_DELAY cycles after the time of the command before. One command. */
int gpio_sample_after(const struct gpio *gpio, uint32_t delay);

/**
 * A result at the first edge (GPIO_RISING, GPIO_FALLING or both) of `pin` between `begin` and
 * `end`, or with `timeout` at `end`. Three commands.
 */
int gpio_capture(const struct gpio *gpio, unsigned int pin, unsigned int edges, uint64_t begin,
                 uint64_t end);

/** The same from the time of the command before, for `delay` cycles: 1 to less than 2^47. One
 * command. */
int gpio_capture_after(const struct gpio *gpio, unsigned int pin, unsigned int edges,
                       uint64_t delay);

/** Takes the first result, if there is one. */
bool gpio_take(const struct gpio *gpio, struct gpio_result *result);

/** Waits until `time` on machine_time()'s clock, by polling it. */
void gpio_wait_until(const struct gpio *gpio, uint64_t time);

/** Removes all commands and results; the sequencer continues with those to come. Pins keep their
 * levels. */
void gpio_stop(const struct gpio *gpio);

/** The interrupt, source `irq`, is high while it is enabled and there is a result. */
void gpio_enable_interrupt(const struct gpio *gpio, bool on);

#endif
