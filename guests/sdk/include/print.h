/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small printf: %d %u %x %s %c %%, with l or ll, a width, and the flags 0 and -. No floating
 * point, no heap, no locks.
 */
#ifndef GUEST_PRINT_H
#define GUEST_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/** Formatted text to the UART, polled; a newline is sent as CR LF. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * Formatted text into a buffer, always terminated (if size > 0).
 * Returns the length of the whole text; a value above size - 1 means that the text was truncated.
 */
size_t print_buffer(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t print_buffer_args(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
