/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates several CPUs. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "atomic_smp.h"

#endif
