/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mutant of the sources in build/mutants/host runs (tools/tessera/verify/mutants.py).
 * Included before each of them.
 */
#ifndef MUTANT_H
#define MUTANT_H

#define MUTANTS_MAX 16384U

extern unsigned mutant_selected;                  /* 0: none */
extern unsigned char mutant_reached[MUTANTS_MAX]; /* 1: the code of this mutant was executed */

static inline int mutant_on(unsigned number)
{
    mutant_reached[number] = 1;
    return mutant_selected == number;
}

#endif
