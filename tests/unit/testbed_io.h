/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system of the testbed whose VMs use shared devices: VMs of one VCPU. The hardware is what the
 * test gives: functions that access its registers.
 */
#ifndef TESTBED_IO_H
#define TESTBED_IO_H

#include "shared_image.h"
#include "testbed.h"
#include "virtio_image.h"

#define TESTBED_IO_BASE UINT64_C(0x18200000)
#define TESTBED_IO_IRQ 25U
#define TESTBED_IO_VM_IRQ 26U
#define TESTBED_IO_GUEST_IRQ 23U
#define TESTBED_IO_FUNCTIONS 3U

/* The section in the image, as the image builder lays it out. Client i is VM i. */
struct testbed_io_section {
    struct shared_image header;
    struct shared_image_client clients[SHARED_MAX_CLIENTS];
};
/* That of PCI functions, behind it: function 0 of each VM has the VM's shared devices. */
struct testbed_io_functions {
    struct virtio_image header;
    struct virtio_image_function functions[TESTBED_IO_FUNCTIONS];
};

/* Makes an image of `nvms` VMs, of which the first `nclients` may use all devices; returns its
 * section, which the test may change. */
void *testbed_io_make(unsigned ncpus, unsigned nvms, unsigned nclients);

/* Gives VM 0, the only one of the image, region `number`, after those with lower numbers. */
void testbed_io_region(unsigned number, unsigned kind, uint64_t gpa, uint64_t hpa);

/* The section ends after `size` bytes; 0: there is none. */
void testbed_io_cut(unsigned size);

/* The first `count` VMs of the image, at most TESTBED_IO_FUNCTIONS, have PCI functions for their
 * shared devices; returns their section, which the test may change. */
void *testbed_io_functions(unsigned count);

/* Boots the image and starts its VMs; returns NULL, or why the hypervisor refuses it. `read`,
 * `write`: at an offset from the manager page. */
const char *testbed_io_boot(uint64_t (*read)(uint64_t offset, unsigned bytes),
                            void (*write)(uint64_t offset, unsigned bytes, uint64_t value));

/* The device memory that the VM has at the address, as an offset from the manager page; 0: none. */
uint64_t testbed_io_page(unsigned vm, uint64_t gpa);

/* A VM's line of the shared devices is high. */
bool testbed_io_raise(unsigned irq);

/* The hardware's interrupt to the manager, on CPU 0. */
void testbed_io_interrupt(void);

/* Asks for the bound on a request of an app: its RESOURCE_* answer, and the longest time in ticks,
 * or 0 if it has none. */
unsigned testbed_io_bound(unsigned vm, unsigned number, uint64_t job, uint64_t *longest);

#endif
