/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the shared flash: the VM's window, whose addresses begin at 0. Programming changes ones
 * to zeros; an erase makes all bits of a sector ones. Programming takes some 250 us for each page,
 * an erase some 130 ms.
 */
#ifndef GUEST_SHARED_FLASH_H
#define GUEST_SHARED_FLASH_H

#include "shared.h"

#define FLASH_SECTOR 65536U /* bytes */
#define FLASH_PAGE 256U

struct flash {
    struct shared_channel channel;
    uint32_t size; /* bytes of the window, a multiple of FLASH_SECTOR */
};

/** Opens the VM's flash. SHARED_OK or SHARED_NO_DEVICE. */
int flash_open(struct flash *flash, const void *fdt);

/**
 * Asynchronous requests: SHARED_OK or SHARED_FULL. shared_take(&flash->channel, ...) tells when
 * each is over, with its tag; the buffer must stay until then. `bytes`: 1 to 65535, of which any
 * number may be read or programmed at any address; the request ends with SHARED_FORBIDDEN outside
 * of the window. A read of at most four bytes returns them in the completion, not in the buffer. A
 * request to program that fails may have changed a part.
 */
int flash_submit_read(struct flash *flash, uint32_t address, void *buffer, uint16_t bytes,
                      uint8_t tag);
int flash_submit_program(struct flash *flash, uint32_t address, const void *data, uint16_t bytes,
                         uint8_t tag);
/** `address`: of the sector's first byte, otherwise the request ends with SHARED_BAD. */
int flash_submit_erase(struct flash *flash, uint32_t address, uint8_t tag);

/**
 * The same, of any length, 0 included; they return when all is done, or with the first error: a
 * status, or SHARED_BUSY while asynchronous requests wait.
 */
int flash_read(struct flash *flash, uint32_t address, void *buffer, size_t bytes);
int flash_program(struct flash *flash, uint32_t address, const void *data, size_t bytes);
int flash_erase(struct flash *flash, uint32_t address);

#endif
