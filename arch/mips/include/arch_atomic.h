/* SPDX-License-Identifier: Apache-2.0 */
/* The M5150 has one CPU. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "atomic_up.h"

#endif
