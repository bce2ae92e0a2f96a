/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the attacks on disk servers, their disks and virtio-crypto. */
#include "attacker_storage.h"

void fill_untouched(volatile uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = UNTOUCHED;
    }
}

bool is_untouched(const volatile uint8_t *bytes, size_t count)
{
    size_t same = 0;

    while (same < count && bytes[same] == UNTOUCHED) {
        same++;
    }
    return same == count;
}

void tear(volatile struct desc *d, uint64_t n, uint64_t memory)
{
    switch (n % 8U) {
    case 0:
        d->address = place_of_others(n >> 40) + (n >> 44 & 0xfffU);
        break;
    case 1:
        d->address = RAM_END - 8U;
        break;
    case 2:
        d->length = (uint32_t)(n >> 32) & 0xffffU;
        break;
    case 3:
        d->flags = (uint16_t)(n >> 40 & 7U);
        break;
    case 4:
        d->next = (uint16_t)(n >> 40 & 3U);
        break;
    default:
        d->address = memory + (n >> 48 & 7U);
        break;
    }
}

void judge_storage(struct verdict *v)
{
    judge_crypto(v);
    judge_served(v);
    judge_server(v);
}
