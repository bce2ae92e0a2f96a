/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, doorbells and shared memory as guests see them: hypercalls, limits, and what errors
 * mean in these calls. */
#ifndef IPC_ABI_H
#define IPC_ABI_H

#include "hypercall_abi.h"

/* --- Messages --- */
/* A destination is the id of a VM, and its VCPU << 16 (RT app n is VCPU `vcpus` + n). A message has
 * 1 to 128 bytes; at most 8 messages wait for a VCPU. Addresses are guest-physical; multiples of 8
 * are fastest. `may-send-to` in the system file defines which VM may send to which. */

/* (destination, address, size)
 * - HCALL_ERR_DENIED
 * - IPC_ERR_NO_VCPU
 * - IPC_ERR_SIZE
 * - HCALL_ERR_INVALID_ADDRESS
 * - IPC_ERR_NOT_RUNNING
 * - IPC_ERR_NOT_NOW */
#define HCALL_IPC_SEND_MSG 32
/* (address, room) -> size, sender's VM << 16, sender's VCPU << 24
 * - IPC_ERR_NOT_NOW
 * - IPC_ERR_SIZE: the message is larger than `room`; the value has its size and sender
 * - HCALL_ERR_INVALID_ADDRESS
 *
 * After an error the message stays in the queue. */
#define HCALL_IPC_RECV_MSG 33
/* (destination, address, size)
 * - HCALL_ERR_DENIED
 * - IPC_ERR_NO_VCPU
 * - IPC_ERR_SIZE
 * - HCALL_ERR_INVALID_ADDRESS
 * - IPC_ERR_NOT_RUNNING
 * - IPC_ERR_NOT_NOW
 *
 * As SEND_MSG; then the caller waits as by WFI, unless it is an RT app. */
#define HCALL_IPC_SEND_WAIT 36

/* An accepted message arrives, complete and in the order of its sender, unless the receiving VCPU
 * turns itself off or its VM stops before that. A message to a VCPU that is off, or to a VM that is
 * not loaded yet, is refused.
 *
 * The receiver gets an interrupt: its supervisor software interrupt (clear `sip.SSIP`, then receive
 * until no message is left), or for VCPU 0 of a VM with `message-interrupt` that source of its
 * interrupt controller, which is high as long as a message or a doorbell waits (node
 * `tessera,messages`). A message does not release an RT app: its jobs check for messages. */

/* --- Shared memory --- */
/* A region of `/shared` has the same address in each of its VMs, and is readable and writable, not
 * executable. The device tree has it as `shared@<address>`, compatible `tessera,shared`, with its
 * number `tessera,region`. */

/* (region, VM)
 * - IPC_ERR_NO_VCPU
 * - HCALL_ERR_DENIED: the region does not belong to both VMs
 * - IPC_ERR_NOT_RUNNING
 *
 * Interrupts VCPU 0 as a message does. While VCPU 0 is off and other VCPUs run, the doorbell is
 * kept for the next DOORBELLS. If the VM has a PCI function for the region (docs/networking.md), a
 * ring raises the function's interrupt instead. */
#define HCALL_IPC_RING 34
/* () -> bit n: region n was rung for this VM since its last call */
#define HCALL_IPC_DOORBELLS 35

/* --- Limits, and errors of these calls --- */
#define IPC_MESSAGE_MAX 128U /* bytes */
#define IPC_QUEUE 8U         /* messages that the inbox of a VCPU holds */

/* Meaning of errors of hypercall_abi.h in these calls: */
/* send: the inbox is full; receive: it is empty */
#define IPC_ERR_NOT_NOW HCALL_ERR_FAILED
#define IPC_ERR_NO_VCPU HCALL_ERR_INVALID_PARAM     /* no such VM or VCPU */
#define IPC_ERR_NOT_RUNNING HCALL_ERR_INVALID_STATE /* the other VM, or its VCPU, does not run */
/* too large, or 0; longer than the buffer: the value describes the message */
#define IPC_ERR_SIZE HCALL_ERR_BAD_RANGE

#endif
