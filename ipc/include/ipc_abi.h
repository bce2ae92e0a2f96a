/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and shared memory as guests see them; docs/hypercalls.md is the reference. */
#ifndef IPC_ABI_H
#define IPC_ABI_H

#define HCALL_IPC_SEND_MSG 32U  /* (destination: VM id | VCPU << 16, gpa, size 1 .. IPC_MESSAGE_MAX) */
#define HCALL_IPC_RECV_MSG 33U  /* (gpa, room in bytes) -> size | sender's VM id << 16 | sender's VCPU << 24 */
#define HCALL_IPC_RING 34U      /* (id of a shared region, VM id) */
#define HCALL_IPC_DOORBELLS 35U /* () -> bit n: region n was rung for this VM since the last such call */
#define HCALL_IPC_SEND_WAIT 36U /* as HCALL_IPC_SEND_MSG; once sent, the caller waits as by WFI */

#define IPC_MESSAGE_MAX 128U /* bytes */
#define IPC_RING 8U          /* messages that wait for a VCPU at most */

/* Errors beside those of hypercall.h's that say what they are: */
#define IPC_ERR_NOT_NOW HCALL_ERR_FAILED            /* the ring is full; there is no message */
#define IPC_ERR_NOBODY HCALL_ERR_INVALID_PARAM      /* no such VM or VCPU */
#define IPC_ERR_NOT_RUNNING HCALL_ERR_INVALID_STATE /* the VM, or the VCPU, does not run */
#define IPC_ERR_SIZE HCALL_ERR_BAD_RANGE /* too large, or empty; longer than the room: value says what waits */

#endif
