/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory with doorbells (ivshmem) in a program for Linux, by its kernel's driver
 * uio_pci_generic. Functions that can fail return an error message, or NULL.
 */
#ifndef UIO_H
#define UIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers of BAR 0, in words. */
enum uio_register {
    UIO_MASK = 0,
    UIO_STATUS = 1, /* reading clears it */
    UIO_POSITION = 2,
    UIO_DOORBELL = 3,
};

struct uio {
    long events; /* /dev/uioN, open */
    long config; /* the configuration space, open */
    volatile uint32_t *registers;
};

/** Opens device /dev/uioN. */
const char *uio_open(struct uio *uio, long number);

/** Maps the first `bytes` of the shared memory of device N; NULL if that fails. */
volatile void *uio_map_memory(long number, size_t bytes);

/** Guest-physical address of the shared memory of device N; 0: there is no such device. */
uint64_t uio_address(long number);

/** Rings the doorbell of a VM, by its number in the system; what was written to the memory before
 * is visible there. */
void uio_ring(const struct uio *uio, uint16_t vm);

/** Number of the own VM. */
uint32_t uio_own(const struct uio *uio);

/**
 * Sleeps until the doorbell has rung since the last call, at most `ms` milliseconds; negative:
 * without end. *rung says whether it has.
 */
const char *uio_wait(const struct uio *uio, int64_t ms, bool *rung);

#endif
