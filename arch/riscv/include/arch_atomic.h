/* SPDX-License-Identifier: Apache-2.0 */
/* A board with one hart has plain accesses: on CVA6 with its write-back cache an AMO or a FENCE
 * takes more than 500 cycles. */
#ifndef ARCH_ATOMIC_H
#define ARCH_ATOMIC_H

#include "board.h"

#if BOARD_HARTS == 1
#include "atomic_up.h"
#else
#include "atomic_smp.h"
#endif

#endif
