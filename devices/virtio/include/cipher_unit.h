/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: devices of the fabric that compute AES-CBC for virtio-crypto (docs/networking.md). The
 * component accel registers these functions (pci_backends.h). A unit belongs to one function of one
 * VM, and no guest sees its registers.
 */
#ifndef CIPHER_UNIT_H
#define CIPHER_UNIT_H

#include "types.h"

struct vm;

#define CIPHER_UNIT_BLOCK 16U /* bytes */

/* A job. Bytes of key and vector are in memory order. */
struct cipher_job {
    uint32_t key[4], vector[4];
    uint64_t source, result; /* guest-physical addresses, multiples of 8 */
    uint32_t size;           /* bytes, a multiple of CIPHER_UNIT_BLOCK, not 0 */
    bool decrypts;
};

enum cipher_outcome {
    CIPHER_RUNS, /* the job is not over */
    CIPHER_DONE, /* the result is in memory */
    /* an access of the job was refused, or its region had a fault; a part of the result may be in
     * memory */
    CIPHER_FAILED,
};

struct cipher_units {
    /* Starts a job on the unit, which has none. `unit`: its number among the VMs of the fabric.
     * False if the unit has no region now, if it cannot access the addresses, or if the VM has no
     * such unit: nothing has happened. An unconnected unit is requested, and can be there later.
     * Without locks of accel; those of queues may be held. */
    bool (*begin)(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
    /* What has become of the job that was begun. CIPHER_RUNS: the current VCPU is suspended until
     * the job is over, or earlier; call again when it runs. Otherwise the unit has no job, and no
     * key. */
    enum cipher_outcome (*result)(uint32_t unit);
    /* One step of stopping the unit, with its job if it has one. True if it was the last: the unit
     * accesses no memory, and has no key. */
    bool (*stop)(const struct vm *vm, uint32_t unit);
};

#endif
