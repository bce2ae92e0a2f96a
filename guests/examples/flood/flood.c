/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floods the shared devices that the VM has: the FIFO of each is full of long requests all the
 * time. Words of the kernel's arguments: `pause=` us from one look at the completions to the next,
 * 0: looks without pause; `burst=` us of looks without pause before each pause; `bytes=` of a read
 * of the flash; `half=` cycles from one edge of its pin to the next; `time=` us before the VM ends,
 * 0: never; `report=` us from one line to the next.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_ethernet.h"
#include "shared_flash.h"
#include "shared_gpio.h"
#include "timer.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define READ_BYTES 32768U /* the most */
#define PROGRAM_BYTES 4096U
#define ERASE_EVERY 16U /* requests of the flash */
#define PULSES 100U

int main(unsigned long hart, const void *fdt);

static struct flash flash;
static struct ethernet port;
static struct gpio gpio;
static bool has_flash, has_port, has_gpio;
static uint32_t half[2] = {GPIO_SHORTEST_PULSE, GPIO_SHORTEST_PULSE};
static uint16_t read_bytes = READ_BYTES;
static unsigned long requests, frames, trains, failed;
static uint8_t data[READ_BYTES], frame[ETHERNET_FRAME];

static unsigned int drain(struct shared_channel *channel)
{
    struct shared_completion done;
    unsigned int count = 0;

    while (shared_take(channel, &done)) {
        failed += done.status != SHARED_OK;
        count++;
    }
    return count;
}

static int submit_flash(unsigned long number)
{
    uint32_t last = flash.size - FLASH_SECTOR;

    if (number % ERASE_EVERY == 0) {
        return flash_submit_erase(&flash, last, 0);
    }
    if (number % ERASE_EVERY == 1) {
        return flash_submit_program(&flash, last, data, PROGRAM_BYTES, 0);
    }
    return flash_submit_read(&flash, 0, data, read_bytes, 0);
}

static void flood_flash(void)
{
    static unsigned long submitted;

    requests += drain(&flash.channel);
    while (submit_flash(submitted) == SHARED_OK) {
        submitted++;
    }
}

/* The switch reflects the frames to the VM, which has no buffer for them. */
static void flood_port(void)
{
    frames += drain(&port.send);
    while (ethernet_submit(&port, frame, sizeof(frame), 0) == SHARED_OK) {
    }
}

static void flood_gpio(void)
{
    struct gpio_result result;
    uint32_t mask = gpio.pins & -gpio.pins;

    while (gpio_take(&gpio, &result)) {
    }
    while (gpio_pulses(&gpio, gpio_now(&gpio) + half[1] + 100U, mask, half, PULSES) == SHARED_OK) {
        trains++;
    }
}

static void flood(void)
{
    if (has_flash) {
        flood_flash();
    }
    if (has_port) {
        flood_port();
    }
    if (has_gpio) {
        flood_gpio();
    }
}

static void flood_until(uint64_t end)
{
    do {
        flood();
    } while (machine_time() < end);
}

static void open_all(const void *fdt)
{
    has_flash = flash_open(&flash, fdt) == SHARED_OK;
    has_port = ethernet_open(&port, fdt) == SHARED_OK;
    has_gpio = gpio_open(&gpio, fdt) == SHARED_OK;
    if (has_port) {
        memcpy(frame, port.mac, ETHERNET_ADDRESS);
        memcpy(frame + ETHERNET_ADDRESS, port.mac, ETHERNET_ADDRESS);
        frame[12] = 0x88; /* local experimental EtherType 0x88b5 */
        frame[13] = 0xb5;
    }
    if (has_gpio) {
        (void)gpio_drive(&gpio, gpio.pins & -gpio.pins, gpio.pins);
    }
    print("flood: %s%s%s\n", has_flash ? "flash " : "", has_port ? "Ethernet " : "",
          has_gpio ? "pins" : "");
}

static void sleep_for(uint64_t ticks)
{
    uint64_t end = machine_time() + ticks;

    timer_set(end);
    machine_wake_by_timer(true);
    while (machine_time() < end) {
        machine_wait();
    }
    machine_wake_by_timer(false);
}

static unsigned long bytes_of(const void *fdt)
{
    unsigned long bytes = fdt_bootarg_number(fdt, "bytes", READ_BYTES);

    return bytes < READ_BYTES ? bytes : READ_BYTES;
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t pause = fdt_bootarg_number(fdt, "pause", 0) * TICKS_US;
    uint64_t burst = fdt_bootarg_number(fdt, "burst", 0) * TICKS_US;
    uint64_t report = fdt_bootarg_number(fdt, "report", 20000) * TICKS_US,
             next = machine_time() + report;
    unsigned long time = fdt_bootarg_number(fdt, "time", 0);
    uint64_t end = time != 0 ? machine_time() + time * TICKS_US : UINT64_MAX;

    (void)hart;
    uart_init();
    timer_init();
    open_all(fdt);
    read_bytes = (uint16_t)bytes_of(fdt);
    half[0] = (uint32_t)fdt_bootarg_number(fdt, "half", half[0]);
    half[1] = half[0];
    while (machine_time() < end) {
        flood_until(machine_time() + burst);
        if (machine_time() >= next) {
            next += report;
            print("flood: %lu flash requests, %lu frames, %lu trains of pulses, %lu failed\n",
                  requests, frames, trains, failed);
        }
        if (pause != 0) {
            sleep_for(pause);
        }
    }
    print("flood: done, %lu flash requests, %lu frames, %lu trains of pulses, %lu failed\n",
          requests, frames, trains, failed);
    return 0;
}
