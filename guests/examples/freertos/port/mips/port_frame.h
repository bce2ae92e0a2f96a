/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a task's registers are while it does not run, for C and assembly: at TCB.pxTopOfStack, the part that every trap
 * saves, then the part that only a switch saves.
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

/* Saved by every trap: what C may change. */
#define FRAME_EPC 0
#define FRAME_STATUS 4
#define FRAME_LO 8
#define FRAME_HI 12
#define FRAME_RA 16
#define FRAME_CALLER 20 /* $1 .. $15, $24, $25 */
/* Saved only when another task goes on: what C keeps. */
#define FRAME_CALLEE 88 /* $16 .. $23, $28, $30 */
#define FRAME_SIZE 128  /* a multiple of 8, as the ABI wants of $sp */

/* What the ABI leaves a function above its $sp, for its arguments. */
#define PORT_ARGUMENTS 16

#define PORT_ISR_STACK 2048

#endif
