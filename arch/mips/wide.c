/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call for 64-bit numbers on a 32-bit machine. */
#include "types.h"

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

#define HALF 16U
#define HALF_MASK 0xffffU

/* A digit of 16 bits of (high:next) / d, of which high < d and d has its highest bit; *high becomes the rest. The first
 * guess, by d's upper half, is too large by 2 at most. */
static uint32_t digit(uint32_t *high, uint32_t next, uint32_t d)
{
    uint32_t q = *high / (d >> HALF), rest = *high % (d >> HALF);

    while (q > HALF_MASK || q * (d & HALF_MASK) > (rest << HALF | next)) {
        q--;
        rest += d >> HALF;
        if (rest > HALF_MASK) {
            break;
        }
    }
    *high = (*high << HALF | next) - q * d;
    return q;
}

/* (high:low) / d, of which high < d, in two digits; *high becomes the rest. */
static uint32_t divide(uint32_t *high, uint32_t low, uint32_t d)
{
    unsigned shift = (unsigned)__builtin_clz(d);
    uint32_t q, top = shift == 0 ? *high : *high << shift | low >> (32U - shift);

    d <<= shift;
    low <<= shift;
    q = digit(&top, low >> HALF, d) << HALF;
    q |= digit(&top, low & HALF_MASK, d);
    *high = top >> shift;
    return q;
}

/* The same of a divisor that is longer: a bit at a time, from the first one at which it fits. Shifts by one, for others are
 * calls, too. */
static uint64_t divide_long(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t quotient = 0, bit = 1;

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

/* By 0 is 0. Nearly all divisors are of 32 bits: admission, which divides a lot, keeps interrupts waiting. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint32_t high = (uint32_t)(n >> 32), most, least;

    if (d == 0) {
        *rest = 0;
        return 0;
    }
    if (d > UINT32_MAX) {
        return divide_long(n, d, rest);
    }
    most = high / (uint32_t)d;
    high %= (uint32_t)d;
    least = divide(&high, (uint32_t)n, (uint32_t)d);
    *rest = high;
    return (uint64_t)most << 32 | least;
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
