/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the drivers of virtual PCI functions. */
#ifndef VIRTIO_TEST_H
#define VIRTIO_TEST_H

#include <stdbool.h>

#include "pci.h"

/** What the tests have in common. */
struct test {
    const void *fdt; /* with the boot arguments */
    unsigned long hart;
    struct pci_bus bus;
};

/** Counts and prints what does not hold. */
void must(bool holds, const char *what);

/** Each tests all functions of its kind, and returns how many there were. */
unsigned int check_rng(struct test *test);
unsigned int check_blk(struct test *test);
unsigned int check_console(struct test *test);
unsigned int check_net(struct test *test);
unsigned int check_vsock(struct test *test);
unsigned int check_ivshmem(struct test *test);

#endif
