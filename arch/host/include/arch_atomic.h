/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the backend of atomic.h: the host simulates several CPUs, so the code under test has the
 * accesses of a machine with several. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "atomic_smp.h"

#endif
