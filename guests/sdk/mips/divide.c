/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit division, for which the compiler calls these functions. They belong to the compiler's
 * runtime library, but Debian's clang has none for bare-metal MIPS. Division by 0 returns an
 * unspecified value.
 */
#include <stdint.h>

uint64_t __udivdi3(uint64_t a, uint64_t b);
uint64_t __umoddi3(uint64_t a, uint64_t b);
int64_t __divdi3(int64_t a, int64_t b);
int64_t __moddi3(int64_t a, int64_t b);

struct divided {
    uint64_t quotient, rest;
};

static unsigned int divide_zeros(uint64_t value)
{
    uint32_t high = (uint32_t)(value >> 32);
    uint32_t low = (uint32_t)value;

    if (high != 0) {
        return (unsigned int)__builtin_clz(high);
    }
    return low != 0 ? 32U + (unsigned int)__builtin_clz(low) : 64U;
}

/* Shift and subtract, from the highest bit that the quotient can have. */
static struct divided divide_long(uint64_t a, uint64_t b)
{
    struct divided result = {0, a};
    unsigned int shift = divide_zeros(b) - divide_zeros(a);

    for (uint64_t part = b << shift;; part >>= 1) {
        result.quotient <<= 1;
        if (result.rest >= part) {
            result.rest -= part;
            result.quotient |= 1U;
        }
        if (shift-- == 0) {
            return result;
        }
    }
}

static struct divided divide(uint64_t a, uint64_t b)
{
    if (a < b || b == 0) {
        return (struct divided){0, a};
    }
    if (a >> 32 == 0) {
        return (struct divided){(uint32_t)a / (uint32_t)b, (uint32_t)a % (uint32_t)b};
    }
    return divide_long(a, b);
}

static uint64_t divide_magnitude(int64_t value)
{
    return value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
}

uint64_t __udivdi3(uint64_t a, uint64_t b)
{
    return divide(a, b).quotient;
}

uint64_t __umoddi3(uint64_t a, uint64_t b)
{
    return divide(a, b).rest;
}

int64_t __divdi3(int64_t a, int64_t b)
{
    uint64_t quotient = divide(divide_magnitude(a), divide_magnitude(b)).quotient;

    return (int64_t)((a < 0) != (b < 0) ? UINT64_C(0) - quotient : quotient);
}

int64_t __moddi3(int64_t a, int64_t b)
{
    uint64_t rest = divide(divide_magnitude(a), divide_magnitude(b)).rest;

    return (int64_t)(a < 0 ? UINT64_C(0) - rest : rest);
}
