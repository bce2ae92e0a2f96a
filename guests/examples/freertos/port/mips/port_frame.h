/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved registers of a task that does not run, for C and assembly: at TCB.pxTopOfStack,
 * the part saved by every trap, then the part saved by a context switch.
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

/* Saved by every trap: caller-saved registers. */
#define FRAME_EPC 0
#define FRAME_STATUS 4
#define FRAME_LO 8
#define FRAME_HI 12
#define FRAME_RA 16
#define FRAME_CALLER 20 /* $1 .. $15, $24, $25 */
/* Saved only by a context switch: callee-saved registers. */
#define FRAME_CALLEE 88 /* $16 .. $23, $28, $30 */
#define FRAME_SIZE 128  /* a multiple of 8, as the ABI requires of $sp */

/* Argument area above $sp that the ABI (o32) reserves for a called function. */
#define PORT_ARGUMENTS 16

#define PORT_ISR_STACK 2048

#endif
