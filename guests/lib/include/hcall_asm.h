/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tessera's hypercalls by number, for C and for assembly. A hypercall is an ecall: a7 = HCALL_EXTENSION, a6 = the call,
 * arguments in a0 to a5; it returns an SBI error in a0, a value in a1, and keeps every other register.
 *
 * In assembly:
 *      hcall HCALL_INFO_GET_ID         # clobbers a6 and a7; a0 = error, a1 = id of this VM
 */
#ifndef GUEST_HCALL_ASM_H
#define GUEST_HCALL_ASM_H

#define HCALL_EXTENSION 0x0A545353
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

#ifdef __ASSEMBLER__

/* clang-format off */
.macro hcall number
    li      a6, \number
    li      a7, HCALL_EXTENSION
    ecall
.endm
/* clang-format on */

#endif
#endif
