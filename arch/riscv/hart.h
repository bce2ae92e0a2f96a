/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HART_H
#define HART_H

#include "csr.h"

/* Delegates to guests their own interrupts and all exceptions that concern only the guest. */
#define HART_HIDELEG ((1UL << IRQ_VSSI) | (1UL << IRQ_VSTI) | (1UL << IRQ_VSEI))
#define HART_HEDELEG                                                                           \
    ((1UL << CAUSE_FETCH_MISALIGNED) | (1UL << CAUSE_FETCH_ACCESS) | (1UL << CAUSE_ILLEGAL) |  \
     (1UL << CAUSE_BREAKPOINT) | (1UL << CAUSE_LOAD_MISALIGNED) | (1UL << CAUSE_LOAD_ACCESS) | \
     (1UL << CAUSE_STORE_MISALIGNED) | (1UL << CAUSE_STORE_ACCESS) | (1UL << CAUSE_ECALL_U) |  \
     (1UL << CAUSE_FETCH_PAGE) | (1UL << CAUSE_LOAD_PAGE) | (1UL << CAUSE_STORE_PAGE))

#endif
