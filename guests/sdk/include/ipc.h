/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between VMs, and doorbells of shared memory regions (docs/hypercalls.md). The system
 * file says which VM may send to which, and which VMs share a region. Every function returns 0 or
 * one of the negative errors of ipc_abi.h, natively HCALL_ERR_NOT_SUPPORTED. Interrupts may be on
 * or off.
 */
#ifndef GUEST_IPC_H
#define GUEST_IPC_H

#include <stddef.h>
#include <stdint.h>

#include "hcall.h"
#include "ipc_abi.h"

/* A VCPU, by its VM's id (order of the system file) and its number in the VM. */
struct ipc_peer {
    unsigned int vm;
    unsigned int vcpu;
};

/**
 * Sends `size` bytes (1 .. IPC_MESSAGE_MAX) to a VCPU and interrupts the VCPU. Messages from one
 * sender to one receiver arrive in order. An accepted message (return value 0) is delivered unless
 * the receiver is restarted. Fastest if the buffer's address is a multiple of 8.
 */
static inline long ipc_send(struct ipc_peer to, const void *message, size_t size)
{
    unsigned long destination = to.vm | (unsigned long)to.vcpu << 16;

    return hcall_call(HCALL_IPC_SEND_MSG, destination, hcall_address(message), size).error;
}

/** ipc_send(), then, on success, waits for an interrupt as WFI does: faster than a separate WFI. */
static inline long ipc_send_wait(struct ipc_peer to, const void *message, size_t size)
{
    unsigned long destination = to.vm | (unsigned long)to.vcpu << 16;

    return hcall_call(HCALL_IPC_SEND_WAIT, destination, hcall_address(message), size).error;
}

/**
 * Moves the oldest message of the calling VCPU's queue to `buffer` of `room` bytes. Returns its
 * size (1 .. IPC_MESSAGE_MAX) and stores its sender; IPC_ERR_NOT_NOW if the queue is empty. After
 * any other error the message stays in the queue.
 */
static inline long ipc_receive(void *buffer, size_t room, struct ipc_peer *from)
{
    struct hcall_ret ret = hcall_call(HCALL_IPC_RECV_MSG, hcall_address(buffer), room, 0);
    unsigned long head = ret.value;

    if (ret.error != HCALL_OK) {
        return ret.error;
    }
    from->vm = (head >> 16) & 0xffU;
    from->vcpu = (unsigned int)(head >> 24);
    return (long)(head & 0xffffU);
}

/**
 * Rings the doorbell of shared region `region` (order of the system file) for VM `vm`, which must
 * share it.
 */
static inline long ipc_ring(unsigned int region, unsigned int vm)
{
    return hcall_call(HCALL_IPC_RING, region, vm, 0).error;
}

/** Doorbells rung for this VM since the last call: bit n is region n. 0 natively. */
static inline uint32_t ipc_doorbells(void)
{
    struct hcall_ret ret = hcall_call(HCALL_IPC_DOORBELLS, 0, 0, 0);

    return ret.error == HCALL_OK ? (uint32_t)ret.value : 0;
}

#endif
