/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that read single bytes of the SPI flash during an interval of time, which all VMs of a
 * system have in common: by requests to the shared hardware, by a driver of an SPI controller, or
 * by messages to a VM that has this driver (docs/hardware-io.md). Words of the kernel's arguments:
 * `role=`; `start=` and `end=`, microseconds since the machine started; `depth=` requests that are
 * outstanding; `server=` the VM with the driver; `base=` the first byte of this VM in the flash.
 */
#ifndef FLASH_BYTES_H
#define FLASH_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#define BYTES_OF_VM 4096U  /* which a VM reads one after the other, repeatedly */
#define SERVER_GRACE 1000U /* ticks after the interval, in which requests are still answered */

/* A request to the VM with the driver, and its answer. */
struct flash_message {
    uint32_t address;
    uint32_t value;
};

struct flash_work {
    uint64_t start, end; /* ticks of machine_time() */
    uint32_t base;
    unsigned int depth;
    uint32_t next; /* the next byte to request */
    uint64_t read; /* bytes whose value came within the interval */
};

void flash_work_init(struct flash_work *work, const void *fdt);

/** The address of the next byte to request. */
uint32_t flash_work_next(struct flash_work *work);

/** A byte has come. Ends the guest as failed if it is not what tests write into the flash
 * (tools/tessera/bench/shared.py). */
void flash_work_check(struct flash_work *work, uint32_t address, uint32_t value);

/** Prints the number of bytes and ends the guest. */
_Noreturn void flash_work_report(const struct flash_work *work);

/** The polled driver of a SiFive SPI controller with a flash behind it. False: the VM has none. */
bool spi_flash_open(const void *fdt);
uint8_t spi_flash_read(uint32_t address);

#endif
