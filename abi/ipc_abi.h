/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, doorbells and shared memory as guests see them: hypercalls, limits, and what errors
 * mean in these calls. docs/hypercalls.md is the reference. */
#ifndef IPC_ABI_H
#define IPC_ABI_H

#include "hypercall_abi.h"

/* (destination: VM id | VCPU << 16, gpa, size 1 .. IPC_MESSAGE_MAX) */
#define HCALL_IPC_SEND_MSG 32
/* (gpa, size of the buffer) -> size | sender's VM id << 16 | sender's VCPU << 24 */
#define HCALL_IPC_RECV_MSG 33
#define HCALL_IPC_RING 34 /* (id of a shared region, VM id) */
/* () -> bit n: the doorbell of region n was rung for this VM since the last such call */
#define HCALL_IPC_DOORBELLS 35
/* as HCALL_IPC_SEND_MSG; after a successful send the caller waits as by WFI */
#define HCALL_IPC_SEND_WAIT 36

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
