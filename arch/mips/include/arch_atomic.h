/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the backend of atomic.h: the M5150 has one CPU, and interrupts are disabled in the
 * hypervisor, so plain accesses are enough. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "atomic_up.h"

#endif
