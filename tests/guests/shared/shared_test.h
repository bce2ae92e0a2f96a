/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the drivers of shared devices. */
#ifndef SHARED_TEST_H
#define SHARED_TEST_H

#include <stdbool.h>

/** Counts and prints what does not hold. */
void must(bool holds, const char *what);

/** Each tests a device, on hart `hart`, and ends. */
void check_flash(const void *fdt, unsigned long hart);
void check_ethernet(const void *fdt, unsigned long hart);
void check_gpio(const void *fdt, unsigned long hart);
void check_copy(const void *fdt, unsigned long hart);
void check_spi(const void *fdt, unsigned long hart);
void check_uart(const void *fdt, unsigned long hart);

#endif
