/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call for 64-bit numbers on a 32-bit machine. */
#include "types.h"

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

/* A bit at a time, from the first one at which the divisor fits. By 0 is 0. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t quotient = 0;
    int shift;

    if (d == 0) {
        *rest = 0;
        return 0;
    }
    if (n <= UINT32_MAX && d <= UINT32_MAX) {
        *rest = (uint32_t)n % (uint32_t)d;
        return (uint32_t)n / (uint32_t)d;
    }
    for (shift = n < d ? -1 : __builtin_clzll(d) - __builtin_clzll(n); shift >= 0; shift--) {
        if (n >= d << shift) {
            n -= d << shift;
            quotient |= UINT64_C(1) << shift;
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
