/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a component needs of an architecture to use a device of its own, and to give parts of it to
 * VMs for good: registers at their host-physical addresses, accessed by arch_device_read64() and
 * its like (arch_types.h), and interrupts. Provided by architectures of boards with a fabric.
 */
#ifndef ARCH_DEVICE_H
#define ARCH_DEVICE_H

#include "types.h"

struct vm;

/* Maps [base, base + size) of host-physical device memory for the hypervisor, at the same address;
 * also if it is mapped already. At boot, on the boot CPU. False if no tables are left. */
bool arch_device_map(hpa_t base, uint64_t size);

/* Reads 64 bits of device memory that is mapped. False if the access faults: no device is there. At
 * boot. */
bool arch_device_probe(hpa_t address, uint64_t *value);

/* Has `handler` called, on the boot CPU, for interrupts of host source `irq`, which is
 * level-triggered and of no VM. Called without locks, in the handling of an interrupt. At boot;
 * false if the source does not exist or is taken. */
bool arch_device_interrupt(unsigned irq, void (*handler)(void));

/* Gives host source `irq`, which is level-triggered, to source `guest` of the VM's emulated
 * interrupt controller, as that of a passed-through device. At boot; false if one of the two does
 * not exist or is taken. */
bool arch_device_route(unsigned irq, struct vm *vm, unsigned guest);

/* Maps the 4 KiB page at `gpa` to `hpa`, readable and writable. The VM has no memory there. At
 * boot; false if no tables are left. */
bool arch_device_give(struct vm *vm, gpa_t gpa, hpa_t hpa);

#endif
