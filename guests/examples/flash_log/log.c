/* SPDX-License-Identifier: Apache-2.0 */
/* Appends records to the log in the shared flash, and finds the newest record when the log is
 * opened (log.h). The caller owns struct log. */
#include "log.h"

#include <stddef.h>
#include <string.h>

#define MAGIC 0x474f4c54U /* "TLOG" in memory order */
#define ERASED UINT32_MAX
#define RECORD ((uint32_t)sizeof(struct log_record))
#define SLOTS (FLASH_SECTOR / RECORD)

_Static_assert(sizeof(struct log_record) == 64, "records do not cross pages");

/* FNV-1a */
static uint32_t checksum_of(const struct log_record *record)
{
    const uint8_t *bytes = (const uint8_t *)record;
    uint32_t sum = 0x811c9dc5U;

    for (unsigned int i = 0; i < offsetof(struct log_record, checksum); i++) {
        sum = (sum ^ bytes[i]) * 0x01000193U;
    }
    return sum;
}

static bool is_whole(const struct log_record *record)
{
    return record->magic == MAGIC && record->checksum == checksum_of(record);
}

static int load(struct log *log, uint32_t sector, uint32_t slot, struct log_record *record)
{
    return flash_read(&log->flash, sector * FLASH_SECTOR + slot * RECORD, record, RECORD);
}

/* Finds the sector whose first record is the newest one. */
static int find_sector(struct log *log, struct log_record *last)
{
    struct log_record record;
    int wrong = SHARED_OK;

    last->magic = 0;
    for (uint32_t sector = 0; sector < log->flash.size / FLASH_SECTOR && wrong == SHARED_OK;
         sector++) {
        wrong = load(log, sector, 0, &record);
        if (is_whole(&record) &&
            (last->magic == 0 || (int32_t)(record.sequence - last->sequence) > 0)) {
            *last = record;
            log->sector = sector;
        }
    }
    return wrong;
}

/* Finds the first slot of the sector that was never written, by bisection, and the newest record
 * before it. */
static int find_slot(struct log *log, struct log_record *last)
{
    uint32_t written = 0, unwritten = SLOTS;
    struct log_record record;
    int wrong = SHARED_OK;

    while (unwritten - written > 1 && wrong == SHARED_OK) {
        uint32_t middle = (written + unwritten) / 2;

        wrong = load(log, log->sector, middle, &record);
        if (record.magic == ERASED) {
            unwritten = middle;
        } else {
            written = middle;
        }
    }
    log->slot = unwritten;
    for (; wrong == SHARED_OK && written > 0; written--) {
        wrong = load(log, log->sector, written, &record);
        if (is_whole(&record)) {
            *last = record;
            break;
        }
    }
    return wrong;
}

int log_open(struct log *log, const void *fdt, struct log_record *last)
{
    int wrong = flash_open(&log->flash, fdt);

    if (wrong == SHARED_OK) {
        wrong = log->flash.size >= 2U * FLASH_SECTOR ? find_sector(log, last) : SHARED_INVALID;
    }
    if (wrong == SHARED_OK && last->magic != 0) {
        wrong = find_slot(log, last);
        log->sequence = last->sequence + 1U;
        log->erased = true;
    }
    return wrong;
}

/* The sector of the next record; an empty log begins with the first one. */
static int make_room(struct log *log)
{
    int wrong = SHARED_OK;

    if (log->erased && log->slot == SLOTS) {
        log->sector = (log->sector + 1U) % (log->flash.size / FLASH_SECTOR);
        log->erased = false;
    }
    if (!log->erased) {
        log->slot = 0;
        wrong = flash_erase(&log->flash, log->sector * FLASH_SECTOR);
        log->erased = wrong == SHARED_OK;
    }
    return wrong;
}

int log_append(struct log *log, struct log_record *record)
{
    int wrong = make_room(log);

    if (wrong != SHARED_OK) {
        return wrong;
    }
    record->magic = MAGIC;
    record->sequence = log->sequence;
    record->checksum = checksum_of(record);
    log->sequence++;
    log->slot++;
    return flash_program(&log->flash, log->sector * FLASH_SECTOR + (log->slot - 1U) * RECORD,
                         record, RECORD);
}
