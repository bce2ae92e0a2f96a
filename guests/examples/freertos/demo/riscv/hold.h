/* SPDX-License-Identifier: Apache-2.0 */
/* For check_registers.c; each architecture has a header of this name with the same functions. */
#ifndef HOLD_H
#define HOLD_H

/* Registers checked by hold_others(), for messages. */
#define HOLD_OTHERS "floating-point register"

/*
 * hold.S: fill the registers with values derived from `seed`, spin until the lower bits of time
 * reach `end`, compare. Return 0, or 1 plus the number of a changed register (x1 .. x31 or f0 ..
 * f31).
 */
unsigned long hold_integer(unsigned long seed, unsigned long end);
unsigned long hold_others(unsigned long seed, unsigned long end);

#endif
