/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory alone overwrites both its ends. With a partner, each of the two VMs has a word in the
 * memory, which counts from 1 to ROUNDS; the VM with the lower number begins, and each rings the
 * other's doorbell after each step.
 */
#include "fdt.h"
#include "ivshmem.h"
#include "print.h"
#include "virtio_test.h"

#define ROUNDS 100U
#define NO_PARTNER 0xffffUL

static struct ivshmem shared;

static void check_memory(void)
{
    volatile uint64_t *words = shared.memory;
    size_t last = shared.bytes / sizeof(*words) - 1U;

    words[0] = 0x1122334455667788U;
    words[last] = 0x99aabbccddeeff00U;
    must(words[0] == 0x1122334455667788U && words[last] == 0x99aabbccddeeff00U, "the memory");
    words[0] = 0;
    words[last] = 0;
}

static void await_step(const struct test *test, const volatile uint32_t *word, uint32_t step)
{
    while (*word < step) {
        ivshmem_wait(&shared, test->hart);
    }
    must(*word == step, "the partner's step");
}

static void check_doorbells(const struct test *test, uint16_t partner)
{
    volatile uint32_t *words = shared.memory;
    bool first = ivshmem_own(&shared) < partner;
    volatile uint32_t *own = &words[first ? 0 : 1], *theirs = &words[first ? 1 : 0];

    for (uint32_t step = 1; step <= ROUNDS; step++) {
        if (!first) {
            await_step(test, theirs, step);
        }
        *own = step;
        ivshmem_ring(&shared, partner);
        if (first) {
            await_step(test, theirs, step);
        }
    }
    print("virtio: ivshmem: %u rounds with VM %u\n", ROUNDS, (unsigned int)partner);
}

unsigned int check_ivshmem(struct test *test)
{
    unsigned long partner = fdt_bootarg_number(test->fdt, "partner", NO_PARTNER);
    unsigned int number = 0;

    for (; ivshmem_open(&shared, &test->bus, number); number++) {
        if (partner == NO_PARTNER) {
            check_memory();
        } else {
            check_doorbells(test, (uint16_t)partner);
        }
        print("virtio: ivshmem %u of %lu bytes in VM %u tested\n", number, shared.bytes,
              ivshmem_own(&shared));
    }
    return number;
}
