/* SPDX-License-Identifier: Apache-2.0 */
/* Output, errors and numbers in text, for programs for Linux without a C library (linux.h). */
#include <string.h>

#include "linux.h"

void linux_put(long file, const char *text, size_t count)
{
    while (count > 0) {
        long size = linux_write(file, text, count);

        if (size <= 0 && size != -LINUX_EINTR) {
            linux_exit(1);
        }
        text += size > 0 ? size : 0;
        count -= size > 0 ? (size_t)size : 0;
    }
}

_Noreturn void linux_fail(const char *program, const char *why)
{
    linux_put(2, program, strlen(program));
    linux_put(2, ": ", 2);
    linux_put(2, why, strlen(why));
    linux_put(2, "\n", 1);
    linux_exit(1);
}

long linux_number(const char *text)
{
    long value = 0;

    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || value > UINT32_MAX) {
            return -1;
        }
        value = 10 * value + (*c - '0');
    }
    return text[0] != '\0' && value <= UINT32_MAX ? value : -1;
}

uint64_t linux_hex(const char *text)
{
    uint64_t value = 0;

    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++) {
        value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    }
    return value;
}
