/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved registers of a task that does not run, for C and assembly.
 *
 *   top of the task's stack
 *     FP area       f0 .. f31, fcsr: at a fixed address per task; tp points to it while the task
 * runs
 *     ...           the stack contents of the task
 *     frame         at TCB.pxTopOfStack: the part saved by every trap, then the part saved by a
 * switch
 */
#ifndef PORT_FRAME_H
#define PORT_FRAME_H

/* Saved by every trap: caller-saved registers. */
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
/* Saved only by a context switch: callee-saved registers. */
#define FRAME_S0 144 /* s0 .. s11 */
#define FRAME_TP 240
#define FRAME_SIZE 256 /* a multiple of 16, as the ABI requires of sp */

#define FP_FCSR 256
#define FP_SIZE 272

#endif
