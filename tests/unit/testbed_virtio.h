/* SPDX-License-Identifier: Apache-2.0 */
/* A system of the testbed whose VMs have PCI functions: VMs of one VCPU. The test is the driver: it
 * accesses a VM's memory and its emulated devices. */
#ifndef TESTBED_VIRTIO_H
#define TESTBED_VIRTIO_H

#include "testbed.h"
#include "virtio_image.h"

/* The section in the image, as the image builder lays it out. */
struct testbed_virtio_section {
    struct virtio_image header;
    struct virtio_image_function functions[14];
};

/* Makes an image of `nvms` VMs without functions, which all share a region of memory, at
 * TESTBED_VIRTIO_SHARED; returns its section, which the test fills. */
void *testbed_virtio_make(unsigned nvms);
/* The VM does not share the region. */
void testbed_virtio_unshare(unsigned vm);

/* The image is for two harts instead of one; testbed_virtio_on() says which one executes stores and
 * loads. */
void testbed_virtio_give_two_harts(void);
void testbed_virtio_on(unsigned cpu);

/* Its shared region is memory for DMA. Before the boot. */
void testbed_virtio_give_dma(unsigned vm);
#define TESTBED_VIRTIO_SHARED UINT64_C(0x90000000)
#define TESTBED_VIRTIO_SHARED_ID 7U

/* Host-physical address of memory that no VM has, for a disk of 2 MiB. */
uint64_t testbed_virtio_disk(void);

/* The content of a disk, at its host-physical address. */
void *testbed_virtio_content(uint64_t hpa);

/* The section ends after `size` bytes. */
void testbed_virtio_cut(unsigned size);

/* Boots the image with a machine's seed and starts its VMs; returns NULL, or why the hypervisor
 * refuses it. */
const char *testbed_virtio_boot(bool seed);

/* What has become of the frames of the port that is function `number` of all. */
struct testbed_virtio_counts {
    uint64_t sent, received, spoofed, limited, no_buffer, malformed;
};
void testbed_virtio_counts(unsigned number, struct testbed_virtio_counts *counts);

/* Of the bytes of the console that is function `number` of all. */
struct testbed_virtio_line_counts {
    uint64_t sent, dropped;
};
void testbed_virtio_line_counts(unsigned number, struct testbed_virtio_line_counts *counts);

/* A VM accesses an emulated device at `gpa`, 2^width_log2 bytes. A load of an address without a
 * device returns TESTBED_VIRTIO_FAULT. */
#define TESTBED_VIRTIO_FAULT UINT64_C(0xdead00000000dead)
uint64_t testbed_virtio_load(unsigned vm, uint64_t gpa, unsigned width_log2);

/* Returns how often the hypervisor has had the store executed again; the store is executed until it
 * is done. `poll`: an interrupt is pending at every poll-th look from now on, 0: never. */
unsigned testbed_virtio_store(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value,
                              unsigned poll);

/* The same, executed once: returns 1 if it is to be executed again. */
unsigned testbed_virtio_store_once(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value,
                                   unsigned poll);

/* At the `look`-th look from now on, another VCPU executes this store once, in which an interrupt
 * is pending at each poll-th look. */
void testbed_virtio_during(unsigned look, unsigned vm, uint64_t gpa, unsigned width_log2,
                           uint64_t value, unsigned poll);

/* CPU 1 does `action`, which loads and stores, at the release-th time that the other CPU releases
 * one of so many locks that it has; it must not need the others. `release` 0: no more. The image is
 * for two harts. */
void testbed_virtio_at_release(unsigned release, unsigned locks, void (*action)(void));

/* Whether the store or the action of the last call of these two was done; a test in which it was
 * not shows nothing. */
bool testbed_virtio_acted(void);

/* From now on each look adds 1 to the 16 bits in the VM's memory, as another CPU could. `gpa` 0: no
 * more. */
void testbed_virtio_endless(unsigned vm, uint64_t gpa);

/* Bit n: line n of the VM's interrupt controller is high, once all pending interrupts are taken. */
uint32_t testbed_virtio_lines(unsigned vm);

/* The same once at most so many are taken by the CPU of testbed_virtio_on(). */
uint32_t testbed_virtio_lines_after(unsigned vm, unsigned interrupts);

#endif
