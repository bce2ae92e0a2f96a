/* SPDX-License-Identifier: Apache-2.0 */
/* Tessera's hypercall numbers, for C and assembly; the same on every architecture. */
#ifndef GUEST_HCALL_NUMBERS_H
#define GUEST_HCALL_NUMBERS_H

#define HCALL_INFO_GET_ID 0
#define HCALL_WATCHDOG_PET 1
#define HCALL_RT_CREATE_APP 16
#define HCALL_RT_LAUNCH_APP 17
#define HCALL_RT_DELETE_APP 18
#define HCALL_RT_END_JOB 19
#define HCALL_RT_GET_STATS 20
#define HCALL_IPC_SEND_MSG 32
#define HCALL_IPC_RECV_MSG 33
#define HCALL_IPC_RING 34
#define HCALL_IPC_DOORBELLS 35
#define HCALL_IPC_SEND_WAIT 36

#endif
