/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the attacks on disk servers, their disks and virtio-crypto. */
#include "attacker_storage.h"

#define SLOWEST 40U /* a loaded host may run the second hart seldom: it gets up to so many times the attack's time */

volatile bool changes_over;
volatile unsigned changes;

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

void begin_changes(struct verdict *v, void (*change)(unsigned long hart, void *argument))
{
    changes_over = false;
    changes = 0;
    judge(v, second_hart(change), "the second hart does not start");
}

void end_changes(void)
{
    changes_over = true;
    second_hart_ended();
}

bool attack_goes_on(uint64_t from, uint64_t time, unsigned least)
{
    return csr_read_time() - from < (changes < least ? SLOWEST * time : time);
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
