/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of the debuggee: those that tests of the debugger name, and the function of steps.S. */
#ifndef DEBUGGEE_H
#define DEBUGGEE_H

/* Second virtual address of RAM, in Sv39. */
#define DEBUGGEE_FAR 0xffffffc080000000UL

/* Not static, and volatile: tests access these symbols by name. */
extern volatile unsigned long debuggee_turns, debuggee_breaks, debuggee_other, debuggee_far;
unsigned long debuggee_inner(unsigned long n);
unsigned long debuggee_middle(unsigned long n);
unsigned long debuggee_outer(unsigned long n);
void debuggee_reached(unsigned long n);

/* steps.S: every kind of instruction for single steps; returns n + 1. */
unsigned long debuggee_steps(unsigned long n);

#endif
