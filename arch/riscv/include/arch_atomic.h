/* SPDX-License-Identifier: Apache-2.0 */
/* Several CPUs. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "atomic_smp.h"

#endif
