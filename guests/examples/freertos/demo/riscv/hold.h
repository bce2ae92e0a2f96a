/* SPDX-License-Identifier: Apache-2.0 */
/* For check_registers.c; each processor has a header of this name with the same functions. */
#ifndef HOLD_H
#define HOLD_H

/* What hold_others() looks at. */
#define HOLD_OTHERS "floating-point register"

/*
 * hold.S: fill with values made from `seed`, spin until the lower bits of time are `end`, compare. Return 0 or the number
 * of a register that changed (of x1 .. x31 or f0 .. f31), plus 1.
 */
unsigned long hold_integer(unsigned long seed, unsigned long end);
unsigned long hold_others(unsigned long seed, unsigned long end);

#endif
