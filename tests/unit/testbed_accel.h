/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system of the testbed whose VMs use a fabric, each with a device for every
 * task. The fabric is what the test gives: functions that access its registers. Time in the fabric
 * passes only when the test lets it.
 */
#ifndef TESTBED_ACCEL_H
#define TESTBED_ACCEL_H

#include "accel_abi.h"
#include "testbed.h"

#define TESTBED_ACCEL_REGIONS 3U
#define TESTBED_ACCEL_DEVICES 6U /* device n: task n + 1, of size class n / 2 */
#define TESTBED_ACCEL_HOLD 3000U /* cycles: hold time of regions */
#define TESTBED_ACCEL_FABRIC UINT64_C(0x20000000)
/* guest-physical: where the device tree has the property "status" of the overlay's devices */
#define TESTBED_ACCEL_NODES (TESTBED_GPA + 0x300U)
#define TESTBED_ACCEL_NODE 0x20U /* bytes from one to the next */

enum testbed_store {
    TESTBED_STORE_DONE,
    TESTBED_STORE_WAITS,   /* not done: its VCPU waits, and executes it again */
    TESTBED_STORE_REFUSED, /* an access fault for the guest */
    TESTBED_STORE_NOBODY,  /* the VM's VCPU does not run */
};

/* Changes the signed bitstreams and their table in the image of a boot. Bitstream `device *
 * TESTBED_ACCEL_REGIONS + region` is at `streams` + 8 * TESTBED_STREAM_WORDS * its number: 256
 * bytes and the tag. */
typedef void testbed_accel_edit_t(void *streams, void *rows);

/* For the next boots: whether VMs may change their priorities (at first they may), the priority of
 * device 0 of VM 0 (at first ~0U: its VM's), and the declared time of each device to stop, in
 * cycles (at first 0: none). */
void testbed_accel_declare(bool may_raise, unsigned top, unsigned stop_cycles);

/* Calls `edit` at the next boots; NULL: none. */
void testbed_accel_edit(testbed_accel_edit_t *edit);

/* The next boots are of a board whose bitstreams are for a 7-series device with this IDCODE; 0: for
 * the simulation's ICAP. */
void testbed_accel_idcode(uint32_t idcode);

/* The next boots have overlays, which VM 0 controls: number 0, "two", has regions 0 and 1 for
 * devices 1 and 3, and provides both to VM 1; number 1, "one", has region 1 for device 2. At most
 * three VMs then. */
void testbed_accel_overlays(bool wanted);

/* VCPUs of each VM at the next boots (at first 1), of which the first runs. */
void testbed_accel_vcpus(unsigned count);

/* The next boots have a PCI function for each device of VMs 0 and 1, in the devices' order. */
void testbed_accel_functions(bool wanted);

/* One section of the work that the manager has left; whether it is one of an overlay. */
bool testbed_accel_step(void);

/* As HCALL_ACCEL_OVERLAY_STATUS. */
void testbed_accel_overlay(unsigned number, struct accel_overlay *status);

/* Flips a bit of a byte of a bitstream, after the check at boot. */
void testbed_accel_damage(unsigned device, unsigned region, unsigned byte);

/* No overlay is being applied or removed, and the ICAP is free. */
bool testbed_accel_idle(void);

/* All that VMs can see of their devices, and what decides the answers to their next requests.
 * Returns the number of values, below 2048. */
unsigned testbed_accel_snapshot(uint64_t *values);

/* The HW task that the region holds, 0: none. */
unsigned testbed_accel_region_task(unsigned region);

/* The events that the VM has not taken yet; takes them. */
uint64_t testbed_accel_events(unsigned vm);

/* Boots and starts `nvms` VMs, of which each has the priority in its 4 bits of `priorities`, and
 * the guest model if its bit in `guest_models` is set. `read`, `write`: at an offset from the
 * fabric's registers. */
bool testbed_accel_boot(unsigned ncpus, unsigned nvms, uint64_t priorities, unsigned guest_models,
                        uint64_t (*read)(uint64_t offset, unsigned bytes),
                        void (*write)(uint64_t offset, unsigned bytes, uint64_t value));

/* The memory that the fabric's DMA and ICAP see at a host-physical address, or
 * NULL. */
void *testbed_accel_memory(uint64_t address);

/* The VM's VCPU stores to a register of its page of the device, as often as the manager asks
 * for. */
enum testbed_store testbed_accel_store(unsigned vm, unsigned device, unsigned offset,
                                       uint32_t value);

/* The same of `width` bytes. */
enum testbed_store testbed_accel_store_wide(unsigned vm, unsigned device, unsigned offset,
                                            unsigned width, uint64_t value);

/* A hypercall of the VM; TESTBED_NO_CALLER if it does not run. */
long testbed_accel_call(unsigned vm, ulong number, ulong device);

uint32_t testbed_accel_load(unsigned vm, unsigned device, unsigned offset);

/* The VM's VCPU is turned off its CPU: as testbed_wait() and testbed_yield(). False if it does not
 * run. */
bool testbed_accel_sleep(unsigned vm);
bool testbed_accel_yield(unsigned vm);
/* Wakes the VM's VCPU. */
void testbed_accel_wake(unsigned vm);

/* The fabric interrupts CPU 0. */
void testbed_accel_interrupt(void);

/* The first violated invariant, or NULL; `quiet`: also those that hold when the manager has handled
 * all interrupts. */
const char *testbed_accel_violation(bool quiet);

/* The regions that the fabric may offer for a device, bit n: region n. */
unsigned testbed_accel_usable(unsigned device);

/* Whether the CPU has been told to look for a START of the VM that came before its fence. */
bool testbed_accel_rechecks(unsigned cpu, unsigned vm);

/* Number of the device's state (enum accel_state). */
unsigned testbed_accel_state(unsigned vm, unsigned device);

/* Of all devices, since their VMs' last starts: requests answered by path 0 .. 3, 4: requests that
 * had to wait, 5: losses. */
uint64_t testbed_accel_count(unsigned which);

#endif
