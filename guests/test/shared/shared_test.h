/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the drivers of shared devices, in a VM that has all of them. */
#ifndef SHARED_TEST_H
#define SHARED_TEST_H

#include <stdbool.h>

/** Counts and prints what does not hold. */
void must(bool holds, const char *what);

/** What a mode does, on hart `hart`; each driver's test ends. */
void check_flash(const void *fdt, unsigned long hart);
void check_ethernet(const void *fdt, unsigned long hart);
void check_gpio(const void *fdt, unsigned long hart);

#endif
