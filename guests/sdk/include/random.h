/* SPDX-License-Identifier: Apache-2.0 */
/* Reproducible pseudo-random numbers: xorshift64*, seeded through splitmix64. */
#ifndef GUEST_RANDOM_H
#define GUEST_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state; /* never 0 */
};

static inline uint64_t random_stir(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline struct random random_from(uint64_t seed)
{
    uint64_t state = random_stir(seed);

    return (struct random){state != 0 ? state : 1};
}

static inline uint64_t random_next(struct random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 .. n-1; n is not 0. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
    return (random_next(r) >> 16) % n;
}

#endif
