/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a task's registers are while it does not run, for C and assembly.
 *
 *   top of the task's stack
 *     FP area       f0 .. f31, fcsr: at a fixed place per task, tp points to it while the task runs
 *     ...           what the task itself has on its stack
 *     frame         at TCB.pxTopOfStack: the part every trap saves, then the part only a switch saves
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

/* Saved by every trap: what C may change. */
#define FRAME_SEPC 0
#define FRAME_SSTATUS 8
#define FRAME_RA 16
#define FRAME_T0 24
#define FRAME_T1 32
#define FRAME_T2 40
#define FRAME_A0 48 /* a0 .. a7 */
#define FRAME_T3 112
#define FRAME_T4 120
#define FRAME_T5 128
#define FRAME_T6 136
/* Saved only when another task goes on: what C keeps. */
#define FRAME_S0 144 /* s0 .. s11 */
#define FRAME_TP 240
#define FRAME_SIZE 256 /* a multiple of 16, as the ABI wants of sp */

#define FP_FCSR 256
#define FP_SIZE 272

#endif
