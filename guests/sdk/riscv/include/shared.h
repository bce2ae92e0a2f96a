/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that several VMs share in hardware (docs/hardware-io.md): what their drivers have in
 * common. shared_flash.h, shared_ethernet.h and shared_gpio.h are the drivers; folder `shared`,
 * SHARED_SDK in guests-bare.mk.
 *
 * A request is two or three stores, a completion is a word that the device writes into the guest's
 * memory: neither calls the hypervisor. The functions do not lock: one hart at a time uses a
 * device. They are for guests without address translation.
 */
#ifndef GUEST_SHARED_H
#define GUEST_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Results of the drivers' functions: 0, the device's status of a request (positive), or why there
 * is no request (negative). */
enum shared_result {
    SHARED_OK = 0,
    /* the device does not know the operation, or not with this length or address */
    SHARED_BAD = 1,
    SHARED_FORBIDDEN = 2,  /* outside of what the VM may use of the device */
    SHARED_OUTSIDE = 3,    /* the data are outside of the VM's memory */
    SHARED_BUS = 4,        /* an error of the memory system */
    SHARED_TIMEOUT = 5,    /* the device did not answer within the system file's timeout-us */
    SHARED_NO_DEVICE = -1, /* the VM's device tree has no such device */
    SHARED_FULL = -2,      /* as many requests wait as the device holds for a VM */
    SHARED_BUSY = -3,      /* requests wait, which this function does not allow */
    SHARED_INVALID = -4,   /* an argument is out of range */
};

/** Numbers of the devices to which an RT app can declare requests (rt_use_device()), those of their
 * pages. */
enum shared_number {
    SHARED_FLASH = 1,
    SHARED_ETHERNET_SEND = 2,
    SHARED_COPY = 4,
    SHARED_GPIO = 6,
};

#define SHARED_ENTRIES 16U /* of a completion ring */

/** A device as the device tree describes it. */
struct shared_device {
    uintptr_t pages[2];
    /* source of the interrupt controller; all shared devices of a VM have the same */
    uint32_t irq;
    uint32_t clock_hz; /* of the time base */
};

/**
 * Requests to a device and their completions. It has the ring that the device writes, so it must
 * stay where it is once it is open.
 */
struct shared_channel {
    _Alignas(128) volatile uint64_t ring[SHARED_ENTRIES];
    uintptr_t page;
    uint32_t irq;
    unsigned int depth;   /* requests that the device holds for a VM */
    unsigned int waiting; /* requests whose completion was not taken yet */
    unsigned int taken;   /* completions, modulo 2^32 */
    unsigned long hart;   /* of shared_sleep_on() */
    bool sleeps;
};

/** `tag` comes back with the completion. The device accesses `length` bytes at `data`, in any
 * alignment, until the completion. */
struct shared_request {
    const volatile void *data;
    uint32_t target; /* address in the device */
    uint16_t length;
    uint8_t op, tag;
};

struct shared_completion {
    int status; /* SHARED_OK .. SHARED_TIMEOUT */
    uint8_t tag;
    uint16_t bytes; /* done; 0 if the status is not SHARED_OK */
    uint32_t data;  /* of a read of at most four bytes, which are not written to memory */
};

/** Finds a device by its `compatible`, for example "tessera,shared-flash". SHARED_OK or
 * SHARED_NO_DEVICE. */
int shared_find(struct shared_device *device, const void *fdt, const char *compatible);

/** Opens page `page` (0 or 1) of a device: no requests wait, the ring is empty, the interrupt is
 * disabled. */
void shared_open(struct shared_channel *channel, const struct shared_device *device,
                 unsigned int page);

/** Submits a request. SHARED_OK or SHARED_FULL: take a completion first. */
int shared_submit(struct shared_channel *channel, const struct shared_request *request);

/** Takes the next completion, if there is one: a load from memory. Requests of a device need not
 * complete in their order. */
bool shared_take(struct shared_channel *channel, struct shared_completion *completion);

/** Takes the next completion; waits for it. A request must wait. */
void shared_wait(struct shared_channel *channel, struct shared_completion *completion);

/** The deadline of the next requests, in the low bits of the time base, for a device with the
 * policy `edf`. */
void shared_set_deadline(struct shared_channel *channel, uint32_t cycles);

/**
 * From now on shared_wait() sleeps on `hart` instead of polling. For guests whose interrupts are
 * off in sstatus, and that use no other interrupts of the controller while they wait.
 */
void shared_sleep_on(struct shared_channel *channel, unsigned long hart);

/**
 * For guests with a handler of their own. Each completion makes the interrupt of the channel
 * pending; while it is enabled and pending, the source `irq` is high. Clear it before
 * shared_take(): a later completion makes it pending again.
 */
void shared_enable_interrupt(struct shared_channel *channel, bool on);
void shared_clear_interrupt(struct shared_channel *channel);

/** Registers have 64 bits. Stores to memory come before a later store to a register, and so on. */
static inline uint64_t shared_read(uintptr_t page, unsigned int offset)
{
    uint64_t value = *(volatile uint64_t *)(page + offset);

    __asm__ volatile("fence iorw, iorw" ::: "memory");
    return value;
}

static inline void shared_write(uintptr_t page, unsigned int offset, uint64_t value)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory");
    *(volatile uint64_t *)(page + offset) = value;
}

#endif
