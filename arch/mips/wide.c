/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit division for 32-bit machines. Compilers emit calls of these functions, by these names, for
 * the operators / and %. Pure. */
#include "types.h"

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);

#define HALF 16U
#define HALF_MASK 0xffffU

/* One 16-bit digit of (high:next) / d, with high < d and d's highest bit set; *high becomes the
 * remainder. The first estimate, by the upper half of d, is too large by at most 2. */
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

/* (high:low) / d with high < d, in two digits; *high becomes the remainder. */
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

/* Division by a divisor longer than 32 bits, one bit at a time. It shifts by one only: other shifts
 * of 64 bits are library calls, too. */
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

/* Division by 0 gives 0. Nearly all divisors have 32 bits, and that path must be fast: admission
 * divides often and is not preemptible. */
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
