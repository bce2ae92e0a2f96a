/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subset of <string.h> that bare guests, FreeRTOS and the compiler itself use. Debian's
 * bare-metal compiler has no C library, and picolibc is a download of 115 MB for these few
 * functions.
 */
#ifndef GUEST_STRING_H
#define GUEST_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t count);
char *strncpy(char *restrict to, const char *restrict from, size_t count);

#endif
