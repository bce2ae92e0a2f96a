/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call for 64-bit numbers on a 32-bit machine. */
#include "types.h"

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

/* A bit at a time, from the first one at which the divisor fits. By 0 is 0. Shifts by one, for others are calls, too. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t quotient = 0, bit = 1;

    if (d == 0) {
        *rest = 0;
        return 0;
    }
    if (n <= UINT32_MAX && d <= UINT32_MAX) {
        *rest = (uint32_t)n % (uint32_t)d;
        return (uint32_t)n / (uint32_t)d;
    }
    for (; d < n && d >> 63 == 0; d <<= 1) {
        bit <<= 1;
    }
    for (; bit != 0; bit >>= 1, d >>= 1) {
        if (n >= d) {
            n -= d;
            quotient |= bit;
        }
    }
    *rest = n;
    return quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
    uint64_t rest;

    return __udivmoddi4(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
    uint64_t rest;

    __udivmoddi4(n, d, &rest);
    return rest;
}
