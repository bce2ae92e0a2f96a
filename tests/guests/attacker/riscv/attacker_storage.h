/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attacker's functions of tests/e2e/systems/attacker-storage.dts: it serves the disk of a VM,
 * has a disk that another VM serves, and a virtio-crypto.
 */
#ifndef ATTACKER_STORAGE_H
#define ATTACKER_STORAGE_H

#include "attacker_virtio.h"

enum storage_slot {
    SLOT_SERVER,
    SLOT_SERVED, /* of DISK_SECTORS */
    SLOT_CRYPTO,
    STORAGE_SLOTS
};

/* Numbers of functions among those of all VMs, in the order of the system file. */
#define NUMBER_SERVED 1U
#define NUMBER_CRYPTO 2U
#define NUMBER_VICTIM 4U /* the disk that the attacker serves */
#define NUMBER_ASK 6U    /* a disk of the attacker's own server */
#define NUMBER_RAM 11U   /* a disk in RAM */
#define NUMBER_MOST 31U

#define UNTOUCHED 0xa5U

/* Fills memory with UNTOUCHED; whether it still is. */
void fill_untouched(volatile uint8_t *bytes, size_t count);
bool is_untouched(const volatile uint8_t *bytes, size_t count);

/* Whether there were enough changes, and enough requests that ended meanwhile. */
static inline bool changed_beside(unsigned ended)
{
    return changes >= CHANGES_MIN && ended > 1U;
}

/* Writes a descriptor that is not what it was: another length, flag, index or address, of this
 * memory or not of this VM. */
void tear(volatile struct desc *d, uint64_t n, uint64_t memory);

/* After a reset the functions work: the victim's requests, the own disk's and AES. */
void judge_storage(struct verdict *v);
void judge_server(struct verdict *v);
void judge_served(struct verdict *v);
void judge_crypto(struct verdict *v);

#endif
