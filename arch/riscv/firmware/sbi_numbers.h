/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions that the firmware has, for assembly too (RISC-V SBI 2.0): trap.S and sbi.c.
 * arch/riscv/internal.h has those that the hypervisor calls or offers to guests. */
#ifndef SBI_NUMBERS_H
#define SBI_NUMBERS_H

#define SBI_LEGACY_PUTCHAR 1
#define SBI_LEGACY_GETCHAR 2
#define SBI_EXT_BASE 0x10
#define SBI_EXT_TIME 0x54494d45
#define SBI_EXT_IPI 0x735049
#define SBI_EXT_RFENCE 0x52464e43
#define SBI_EXT_HSM 0x48534d
#define SBI_EXT_SRST 0x53525354
#define SBI_EXT_DBCN 0x4442434e

#endif
