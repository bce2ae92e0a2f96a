/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a component needs of an architecture to use a device of its own: registers at their host-physical addresses, accessed by
 * arch_device_read64() and its like (arch_types.h). Provided by architectures of boards with a fabric.
 */
#ifndef ARCH_DEVICE_H
#define ARCH_DEVICE_H

#include "types.h"

/* Maps [base, base + size) of host-physical device memory for the hypervisor, at the same address; also if it is mapped already. At
 * boot, on the boot CPU. False if no tables are left. */
bool arch_device_map(hpa_t base, uint64_t size);

/* Reads 64 bits of device memory that is mapped. False if the access faults: no device is there. At boot. */
bool arch_device_probe(hpa_t address, uint64_t *value);

#endif
