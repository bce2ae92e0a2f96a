/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of trace events, for trace.h, for assembly, and for the tools that decode the trace. `arg`
 * is 0 unless described. */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#define TRACE_IDLE 1      /* the CPU has nothing to run; ignore the VCPU */
#define TRACE_SWITCH 2    /* the VCPU runs from here on */
#define TRACE_EXIT 3      /* arg: the architecture's cause, and details, see below */
#define TRACE_RETURN 4    /* the exit is done */
#define TRACE_INJECT 5    /* arg: the architecture's bits */
#define TRACE_HYPERCALL 6 /* arg: number | error << 32 */
/* Of an RT app; arg: the absolute deadline of its job, in ticks. */
#define TRACE_RELEASE 7
#define TRACE_COMPLETION 8
/* the deadline has passed; the job gets another period from its next release */
#define TRACE_MISS 9
#define TRACE_OVERRUN 10 /* the budget is used up before the job is complete */
#define TRACE_LEAVE 11   /* the RT app is removed; arg: 0 */
#define TRACE_SEND 12    /* a message; arg: to VM | VCPU << 16 */
#define TRACE_RECEIVE 13 /* a message; arg: size | from VM << 16 | VCPU << 24 */

/*
 * arg of TRACE_EXIT: bits 0 to 7 and 63 are the architecture's cause; bit 63 marks an interrupt.
 * The details depend on the cause:
 * a guest-page fault: guest-physical address << 8
 * a call:             function << 8 (its low 24 bits) | extension << 32 (its low 31 bits)
 */
#define TRACE_DETAIL_SHIFT 8

#endif
