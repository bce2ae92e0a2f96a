/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEBUGGEE_H
#define DEBUGGEE_H

/* Where RAM is a second time, in Sv39. */
#define DEBUGGEE_FAR 0xffffffc080000000UL

/* Not static, and counters volatile: a debugger looks for them by name. */
extern volatile unsigned long debuggee_turns, debuggee_breaks, debuggee_other, debuggee_far;
unsigned long debuggee_inner(unsigned long n);
unsigned long debuggee_middle(unsigned long n);
unsigned long debuggee_outer(unsigned long n);
void debuggee_reached(unsigned long n);

/* steps.S: instructions of every kind that a single step has to follow; returns n + 1. */
unsigned long debuggee_steps(unsigned long n);

#endif
