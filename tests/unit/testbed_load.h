/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the time that loading and ending VMs takes. */
#ifndef TESTBED_LOAD_H
#define TESTBED_LOAD_H

#include "types.h"

/* Until the next boot, a CPU that loads or ends a VM takes `ticks` between polling points. */
void testbed_load_costs(ticks_t ticks);

/* At time `when` or later, while a CPU other than 0 loads or ends a VM, CPU 0 raises an interrupt
 * for VCPU 0 of `vm`. */
void testbed_load_raise(ticks_t when, unsigned vm);

/* Runs only CPU `cpu`, including its interrupts, until it runs a guest or is idle. */
void testbed_load_step(unsigned cpu);

#endif
