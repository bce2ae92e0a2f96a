/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit division for 32-bit hypervisors, compared with the host's division. */
#include "unit.h"

#include <stdlib.h>

#include "../../arch/mips/wide.c"

#define RANDOM_PAIRS 1000000U

/* Random numbers of every length, with runs of ones at both ends. */
static uint64_t some_number(void)
{
    uint64_t x = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();

    x >>= random() % 64;
    switch (random() % 8) {
    case 0:
        return x | UINT64_C(0xffffffff00000000);
    case 1:
        return x | 0xffffU;
    case 2:
        return x | 0x80000000U;
    default:
        return x;
    }
}

static void compare(uint64_t n, uint64_t d)
{
    uint64_t rest;

    assert_int_equal(__udivmoddi4(n, d, &rest), n / d);
    assert_int_equal(rest, n % d);
    assert_int_equal(__udivdi3(n, d), n / d);
    assert_int_equal(__umoddi3(n, d), n % d);
}

static void test_division(void **state)
{
    static const uint64_t edges[] = {
        1,          2,          0xffff,      0x10000,         0x7fffffff,
        0x80000000, 0xffffffff, 0x100000000, UINT64_MAX >> 1, UINT64_MAX};

    (void)state;
    srandom(1);
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
        for (size_t k = 0; k < sizeof(edges) / sizeof(*edges); k++) {
            compare(edges[i], edges[k]);
        }
    }
    for (unsigned i = 0; i < RANDOM_PAIRS; i++) {
        uint64_t d = some_number();

        compare(some_number(), d != 0 ? d : 1);
    }
}

static void test_division_by_zero(void **state)
{
    uint64_t rest = 1;

    (void)state;
    assert_int_equal(__udivmoddi4(UINT64_MAX, 0, &rest), 0);
    assert_int_equal(rest, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_division_by_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
