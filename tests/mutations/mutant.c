/* SPDX-License-Identifier: Apache-2.0 */
/* The selected mutant. Programs in C take its number from MUTANT_NUMBER, and write what they
 * reached to the file MUTANT_REACHED. */
#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>

unsigned mutant_selected;
unsigned char mutant_reached[MUTANTS_MAX];

__attribute__((constructor)) static void mutant_select(void)
{
    const char *number = getenv("MUTANT_NUMBER");

    mutant_selected = number != NULL ? (unsigned)strtoul(number, NULL, 10) : 0;
}

__attribute__((destructor)) static void mutant_report(void)
{
    const char *name = getenv("MUTANT_REACHED");
    FILE *file = name != NULL ? fopen(name, "wb") : NULL;

    if (file != NULL) {
        (void)fwrite(mutant_reached, 1, sizeof(mutant_reached), file);
        (void)fclose(file);
    }
}
