/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log in the VM's window of the flash: records of 64 bytes, appended to one sector after the
 * other. When a sector is full, the next one is erased, which removes the oldest records. A record
 * that was not written completely, because the machine ended, has a wrong checksum and is skipped.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "shared_flash.h"

#define LOG_TEXT 48U /* bytes, the last one 0 */

struct log_record {
    uint32_t magic;
    uint32_t sequence; /* 0, 1, ... */
    uint32_t boot;     /* lives of the VM before this one */
    char text[LOG_TEXT];
    uint32_t checksum; /* of the bytes before it */
};

struct log {
    struct flash flash;
    uint32_t sector, slot; /* of the next record */
    uint32_t sequence;     /* of the next record */
    bool erased;           /* the next slot is, and those behind it */
};

/**
 * Opens the log. `last`: the newest record; its magic is 0 if the log is empty. SHARED_OK, or an
 * error of the flash; a window of one sector is SHARED_INVALID, because an erase would remove the
 * newest records.
 */
int log_open(struct log *log, const void *fdt, struct log_record *last);

/** Completes a record with `boot` and `text` set, and appends it. SHARED_OK or an error of the
 * flash. */
int log_append(struct log *log, struct log_record *record);

#endif
