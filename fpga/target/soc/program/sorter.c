/* SPDX-License-Identifier: Apache-2.0 */
/* The sorter as a scheduler's queue: keys in, the least one out. */
#include "soc.h"

#define KEYS 6U
#define STATUS_BITS 3U
#define VALUE_BITS 0xffffU
#define PUT(value) (FABRIC_SORT_PUT + (value) * FABRIC_SORT_PUT_VALUE_STRIDE)
#define SORTER(offset) (FABRIC_SORTERS + (offset))

static uint64_t insert(uint64_t key, unsigned int value)
{
    *fabric(PUT(value)) = key;
    return *fabric(SORTER(FABRIC_SORTER_STATUS));
}

static uint64_t pop(void)
{
    uint64_t head = *fabric(SORTER(FABRIC_SORTER_HEAD));

    *fabric(SORTER(FABRIC_SORTER_REMOVE)) = head & VALUE_BITS;
    return head;
}

void test_sorter(void)
{
    static const volatile uint64_t keys[KEYS] = {50, 10, 40, 11, 30, 20};
    static const unsigned int sorted[KEYS] = {1, 3, 5, 4, 2, 0};
    uint64_t begin, taken, worst = 0, status = 0, head, key;

    for (unsigned int i = 0; i < KEYS; i++) {
        key = keys[i]; /* before the measurement: the cache does not have it */
        begin = cycles();
        status |= insert(key, i) & STATUS_BITS;
        taken = cycles() - begin;
        worst = taken > worst && i > 0 ? taken : worst; /* the first one fetches the code */
    }
    check("sorter_status", status, 0);
    report("sorter_insert", worst);
    worst = 0;
    for (unsigned int i = 0; i < KEYS; i++) {
        begin = cycles();
        head = pop();
        taken = cycles() - begin;
        worst = taken > worst && i > 0 ? taken : worst;
        check("sorter_head", head & VALUE_BITS, sorted[i]);
    }
    report("sorter_pop", worst);
    check("sorter_empty", *fabric(SORTER(FABRIC_SORTER_HEAD)) >> FABRIC_SORTER_HEAD_VALID_LSB & 1,
          0);
}
