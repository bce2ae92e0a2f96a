/* SPDX-License-Identifier: Apache-2.0 */
/* Loading and ending VMs takes time. */
#ifndef TESTBED_LOAD_H
#define TESTBED_LOAD_H

#include "types.h"

/* Until the next boot, a CPU that loads or ends a VM takes `ticks` from one look at interrupts to the next. */
void testbed_load_costs(ticks_t ticks);

/* Once time is `when`, and a CPU other than 0 is loading or ending a VM, CPU 0 raises an interrupt for VCPU 0 of `vm`. */
void testbed_load_raise(ticks_t when, unsigned vm);

/* CPU `cpu` alone takes its interrupts and does what comes next until a guest runs on it or it sleeps. */
void testbed_load_turn(unsigned cpu);

#endif
