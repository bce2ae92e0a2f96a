/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the shared GPIO: encodes the sequencer's commands and decodes its results
 * (shared_gpio.h). The caller owns struct gpio. */
#include "fabric_map.h"
#include "fdt.h"
#include "machine.h"
#include "shared_gpio.h"

/* Commands (fpga/hw/rtl/io_gpio/gpio_processor.sv): now [63], operation [62:59], operands, delay.
 */
#define NOW ((uint64_t)1 << 63)
#define OP_LSB 59U
#define BANK_LSB 56U
#define MASK_LSB 40U
#define VALUE_LSB 24U
#define EDGES_LSB 57U
#define PIN_LSB 48U
#define TIME_BITS 48U
#define TIME_MASK (((uint64_t)1 << TIME_BITS) - 1U)
#define LONGEST_WAIT (((uint64_t)1 << (TIME_BITS - 1U)) - 1U)
#define BANK_PINS 16U
#define BANK_MASK 0xffffU
#define ALL_PINS 32U
#define SOON 4U /* cycles from when the sequencer takes a command to its effect; fewer are late */

static uint64_t command(enum gpio_op op, uint64_t operands)
{
    return (uint64_t)op << OP_LSB | operands;
}

static uint64_t field(uint64_t register_value, unsigned int lsb, unsigned int width)
{
    return register_value >> lsb & (((uint64_t)1 << width) - 1U);
}

int gpio_open(struct gpio *gpio, const void *fdt)
{
    struct shared_device device;
    uint32_t length;
    const void *hz = fdt_property(fdt, "cpus", "timebase-frequency", &length);
    int wrong = hz != NULL ? shared_find(&device, fdt, "tessera,shared-gpio") : SHARED_NO_DEVICE;

    if (wrong != SHARED_OK) {
        return wrong;
    }
    *gpio = (struct gpio){.page = device.pages[0], .irq = device.irq, .clock_hz = device.clock_hz};
    gpio->timebase_hz = fdt_cell(hz, length, 0);
    gpio->pins = (uint32_t)shared_read(gpio->page, FABRIC_GPIO_OWN);
    gpio_enable_interrupt(gpio, false);
    gpio_stop(gpio);
    return SHARED_OK;
}

uint64_t gpio_now(const struct gpio *gpio)
{
    return shared_read(gpio->page, FABRIC_GPIO_TIME);
}

/* value * to / from without an overflow of the product. */
static uint64_t scaled(uint64_t value, uint64_t to, uint64_t from)
{
    return value / from * to + value % from * to / from;
}

uint64_t gpio_from_ticks(const struct gpio *gpio, uint64_t ticks)
{
    return scaled(ticks, gpio->clock_hz, gpio->timebase_hz);
}

uint64_t gpio_to_ticks(const struct gpio *gpio, uint64_t cycles)
{
    return scaled(cycles, gpio->timebase_hz, gpio->clock_hz);
}

unsigned int gpio_space(const struct gpio *gpio)
{
    uint64_t status = shared_read(gpio->page, FABRIC_GPIO_STATUS);

    return (unsigned int)field(status, FABRIC_GPIO_STATUS_SPACE_LSB,
                               FABRIC_GPIO_STATUS_SPACE_WIDTH);
}

static int append(const struct gpio *gpio, const uint64_t *commands, unsigned int count)
{
    if (gpio_space(gpio) < count) {
        return SHARED_FULL;
    }
    for (unsigned int i = 0; i < count; i++) {
        shared_write(gpio->page, FABRIC_GPIO_COMMAND, commands[i]);
    }
    return SHARED_OK;
}

static uint64_t until(uint64_t time)
{
    return command(GPIO_UNTIL, time & TIME_MASK);
}

/* A set of pins of one bank, or of all of the VM's; 0: the mask has others. */
static uint64_t set_of(const struct gpio *gpio, uint32_t mask, uint32_t value, uint32_t delay)
{
    unsigned int bank = mask > BANK_MASK ? 1 : 0;
    uint64_t shift = bank * BANK_PINS;

    if (mask >> shift << shift == mask && mask >> shift <= BANK_MASK) {
        return command(GPIO_SET, (uint64_t)bank << BANK_LSB |
                                     (uint64_t)(mask >> shift) << MASK_LSB |
                                     (uint64_t)(value >> shift & BANK_MASK) << VALUE_LSB | delay);
    }
    return mask == gpio->pins ? command(GPIO_WRITE, (uint64_t)value << VALUE_LSB | delay) : 0;
}

int gpio_drive(const struct gpio *gpio, uint32_t mask, uint32_t value)
{
    uint64_t set = set_of(gpio, mask, value, SOON);
    uint64_t drive = NOW | command(GPIO_DRIVE, set & ~command((enum gpio_op)0xf, 0));

    return set >> OP_LSB == GPIO_SET ? append(gpio, &drive, 1) : SHARED_INVALID;
}

int gpio_set_at(const struct gpio *gpio, uint64_t time, uint32_t mask, uint32_t value)
{
    uint64_t commands[] = {until(time), set_of(gpio, mask, value, 0)};

    return commands[1] != 0 ? append(gpio, commands, 2) : SHARED_INVALID;
}

int gpio_set_after(const struct gpio *gpio, uint32_t delay, uint32_t mask, uint32_t value)
{
    uint64_t set = set_of(gpio, mask, value, delay);

    return set != 0 && delay >= 1 && delay <= GPIO_LONGEST_DELAY ? append(gpio, &set, 1)
                                                                 : SHARED_INVALID;
}

int gpio_wait(const struct gpio *gpio, uint64_t delay)
{
    uint64_t wait = command(GPIO_WAIT, delay);

    return delay <= LONGEST_WAIT ? append(gpio, &wait, 1) : SHARED_INVALID;
}

static bool is_pulse(uint32_t cycles)
{
    return cycles >= GPIO_SHORTEST_PULSE && cycles <= GPIO_LONGEST_DELAY;
}

int gpio_pulses(const struct gpio *gpio, uint64_t first, uint32_t mask, const uint32_t high_low[2],
                uint32_t count)
{
    uint64_t commands[] = {until(first - high_low[1]), command(GPIO_LOOP, count),
                           set_of(gpio, mask, mask, high_low[1]),
                           set_of(gpio, mask, 0, high_low[0]), command(GPIO_REPEAT, 0)};

    if (!is_pulse(high_low[0]) || !is_pulse(high_low[1]) || count < 1 || count > UINT16_MAX ||
        commands[2] == 0) {
        return SHARED_INVALID;
    }
    return append(gpio, commands, 5);
}

int gpio_sample_at(const struct gpio *gpio, uint64_t time)
{
    uint64_t commands[] = {until(time), command(GPIO_SAMPLE, 0)};

    return append(gpio, commands, 2);
}

int gpio_sample_after(const struct gpio *gpio, uint32_t delay)
{
    uint64_t sample = command(GPIO_SAMPLE, delay);

    return delay >= 1 && delay <= GPIO_LONGEST_DELAY ? append(gpio, &sample, 1) : SHARED_INVALID;
}

/* 0: an argument is out of range. */
static uint64_t capture_of(unsigned int pin, unsigned int edges, uint64_t delay)
{
    bool valid = pin < ALL_PINS && edges >= GPIO_RISING && edges <= (GPIO_RISING | GPIO_FALLING) &&
                 delay >= 1 && delay <= LONGEST_WAIT;

    return valid ? command(GPIO_CAPTURE,
                           (uint64_t)edges << EDGES_LSB | (uint64_t)pin << PIN_LSB | delay)
                 : 0;
}

/* The pause makes the capture begin at `begin`. */
int gpio_capture(const struct gpio *gpio, unsigned int pin, unsigned int edges, uint64_t begin,
                 uint64_t end)
{
    uint64_t commands[] = {until(begin), command(GPIO_PAUSE, 0),
                           capture_of(pin, edges, end - begin)};

    return commands[2] != 0 ? append(gpio, commands, 3) : SHARED_INVALID;
}

int gpio_capture_after(const struct gpio *gpio, unsigned int pin, unsigned int edges,
                       uint64_t delay)
{
    uint64_t capture = capture_of(pin, edges, delay);

    return capture != 0 ? append(gpio, &capture, 1) : SHARED_INVALID;
}

bool gpio_take(const struct gpio *gpio, struct gpio_result *result)
{
    uint64_t value = shared_read(gpio->page, FABRIC_GPIO_RESULT);

    if (field(value, FABRIC_GPIO_RESULT_VALID_LSB, 1) == 0) {
        return false;
    }
    *result = (struct gpio_result){
        .time = shared_read(gpio->page, FABRIC_GPIO_RESULT_TIME),
        .pins = (uint32_t)(value >> FABRIC_GPIO_RESULT_PINS_LSB),
        .op = (uint8_t)field(value, FABRIC_GPIO_RESULT_OP_LSB, FABRIC_GPIO_RESULT_OP_WIDTH),
        .late = field(value, FABRIC_GPIO_RESULT_LATE_LSB, 1) != 0,
        .forbidden = field(value, FABRIC_GPIO_RESULT_FORBIDDEN_LSB, 1) != 0,
        .bad = field(value, FABRIC_GPIO_RESULT_BAD_LSB, 1) != 0,
        .timeout = field(value, FABRIC_GPIO_RESULT_TIMEOUT_LSB, 1) != 0,
        .by = (uint16_t)field(value, FABRIC_GPIO_RESULT_BY_LSB, FABRIC_GPIO_RESULT_BY_WIDTH),
    };
    shared_write(gpio->page, FABRIC_GPIO_POP, 1);
    return true;
}

void gpio_wait_until(const struct gpio *gpio, uint64_t time)
{
    while (gpio_from_ticks(gpio, machine_time()) < time) {
    }
}

void gpio_stop(const struct gpio *gpio)
{
    struct gpio_result result;

    shared_write(gpio->page, FABRIC_GPIO_CONTROL, (uint64_t)1 << FABRIC_GPIO_CONTROL_STOP_LSB);
    while (gpio_take(gpio, &result)) {
    }
    shared_write(gpio->page, FABRIC_GPIO_CONTROL, (uint64_t)1 << FABRIC_GPIO_CONTROL_START_LSB);
}

void gpio_enable_interrupt(const struct gpio *gpio, bool on)
{
    shared_write(gpio->page, FABRIC_GPIO_INT, on ? 1 : 0);
}
