/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and shared memory as guests see them; docs/hypercalls.md is the reference. */
#ifndef IPC_ABI_H
#define IPC_ABI_H

#define HCALL_IPC_SEND_MSG 32U /* (destination: VM id | VCPU << 16, gpa, size 1 .. IPC_MESSAGE_MAX) */
#define HCALL_IPC_RECV_MSG 33U /* (gpa, room in bytes) -> size | sender's VM id << 16 | sender's VCPU << 24 */
#define HCALL_IPC_RING 34U     /* (id of a shared region, VM id) */
#define HCALL_IPC_DOORBELLS \
    35U /* () -> bit n: the doorbell of region n was rung for this VM since the last such call */
#define HCALL_IPC_SEND_WAIT 36U /* as HCALL_IPC_SEND_MSG; after a successful send the caller waits as by WFI */

#define IPC_MESSAGE_MAX 128U /* bytes */
#define IPC_RING 8U          /* messages that a VCPU's inbox holds */

/* Meaning of errors of hypercall.h in these calls: */
#define IPC_ERR_NOT_NOW HCALL_ERR_FAILED            /* the inbox is full, or empty */
#define IPC_ERR_NOBODY HCALL_ERR_INVALID_PARAM      /* no such VM or VCPU */
#define IPC_ERR_NOT_RUNNING HCALL_ERR_INVALID_STATE /* the VM, or the VCPU, does not run */
#define IPC_ERR_SIZE HCALL_ERR_BAD_RANGE /* too large, or 0; longer than the buffer: the value describes the message */

#endif
