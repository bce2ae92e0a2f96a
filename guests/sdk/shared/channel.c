/* SPDX-License-Identifier: Apache-2.0 */
/* Finds shared devices in the device tree, and exchanges requests and completions with a device
 * (shared.h). The caller owns struct shared_channel. */
#include "fabric_map.h"
#include "fdt.h"
#include "plic.h"
#include "shared.h"

#define CELLS_OF_REG 4U /* address and size, two cells each */
#define ENABLE ((uint64_t)1 << FABRIC_CHANNEL_INT_ENABLE_LSB)
#define EVENTS \
    ((uint64_t)1 << FABRIC_CHANNEL_INT_PENDING_LSB | (uint64_t)1 << FABRIC_CHANNEL_INT_REFUSED_LSB)

static uint32_t number(const void *fdt, const char *compatible, const char *property)
{
    uint32_t length;
    const void *value = fdt_device(fdt, compatible, property, &length);

    return value != NULL ? fdt_cell(value, length, 0) : 0;
}

int shared_find(struct shared_device *device, const void *fdt, const char *compatible)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, compatible, "reg", &length);

    if (reg == NULL) {
        return SHARED_NO_DEVICE;
    }
    for (unsigned int i = 0; i < 2; i++) {
        device->pages[i] = (uintptr_t)fdt_cell(reg, length, CELLS_OF_REG * i) << 32 |
                           fdt_cell(reg, length, CELLS_OF_REG * i + 1U);
    }
    device->irq = number(fdt, compatible, "interrupts");
    device->clock_hz = number(fdt, compatible, "clock-frequency");
    return device->pages[0] != 0 && device->clock_hz != 0 ? SHARED_OK : SHARED_NO_DEVICE;
}

void shared_open(struct shared_channel *channel, const struct shared_device *device,
                 unsigned int page)
{
    *channel = (struct shared_channel){.page = device->pages[page], .irq = device->irq};
    shared_write(channel->page, FABRIC_CHANNEL_FLUSH, 1);
    shared_write(channel->page, FABRIC_CHANNEL_INT, EVENTS);
    channel->depth = (unsigned int)(shared_read(channel->page, FABRIC_CHANNEL_INFO) >>
                                        FABRIC_CHANNEL_INFO_DEPTH_LSB &
                                    ((1U << FABRIC_CHANNEL_INFO_DEPTH_WIDTH) - 1U));
    shared_write(channel->page, FABRIC_CHANNEL_RING, (uintptr_t)channel->ring);
}

int shared_submit(struct shared_channel *channel, const struct shared_request *request)
{
    if (channel->waiting >= channel->depth) {
        return SHARED_FULL;
    }
    channel->waiting++;
    shared_write(channel->page, FABRIC_CHANNEL_ADDR, (uintptr_t)request->data);
    shared_write(channel->page, FABRIC_CHANNEL_SUBMIT,
                 (uint64_t)request->op << FABRIC_CHANNEL_SUBMIT_OP_LSB |
                     (uint64_t)request->tag << FABRIC_CHANNEL_SUBMIT_TAG_LSB |
                     (uint64_t)request->length << FABRIC_CHANNEL_SUBMIT_LENGTH_LSB |
                     (uint64_t)request->target << FABRIC_CHANNEL_SUBMIT_TARGET_LSB);
    return SHARED_OK;
}

bool shared_take(struct shared_channel *channel, struct shared_completion *completion)
{
    uint64_t word = channel->ring[channel->taken % SHARED_ENTRIES];

    if ((word & 1U) == (channel->taken / SHARED_ENTRIES & 1U)) {
        return false; /* of the pass before */
    }
    __asm__ volatile("fence iorw, iorw" ::: "memory"); /* the guest reads the data after this */
    channel->taken++;
    channel->waiting--;
    *completion = (struct shared_completion){.status = (int)(word >> 4 & 0xfU),
                                             .tag = (uint8_t)(word >> 8),
                                             .bytes = (uint16_t)(word >> 16),
                                             .data = (uint32_t)(word >> 32)};
    return true;
}

static void clear_own(void *argument)
{
    shared_clear_interrupt(argument);
}

void shared_wait(struct shared_channel *channel, struct shared_completion *completion)
{
    while (!shared_take(channel, completion)) {
        if (channel->sleeps) {
            plic_wait(channel->irq, channel->hart, clear_own, channel);
        }
    }
}

void shared_set_deadline(struct shared_channel *channel, uint32_t cycles)
{
    shared_write(channel->page, FABRIC_CHANNEL_DEADLINE, cycles);
}

void shared_sleep_on(struct shared_channel *channel, unsigned long hart)
{
    channel->hart = hart;
    channel->sleeps = true;
    shared_enable_interrupt(channel, true);
}

void shared_enable_interrupt(struct shared_channel *channel, bool on)
{
    shared_write(channel->page, FABRIC_CHANNEL_INT, on ? ENABLE : 0);
}

/* The register has the enable bit, too. */
void shared_clear_interrupt(struct shared_channel *channel)
{
    uint64_t value = shared_read(channel->page, FABRIC_CHANNEL_INT);

    shared_write(channel->page, FABRIC_CHANNEL_INT, (value & ENABLE) | EVENTS);
}
