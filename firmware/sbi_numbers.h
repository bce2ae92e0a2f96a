/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that the firmware has, for assembly too (RISC-V SBI 2.0). */
#ifndef SBI_NUMBERS_H
#define SBI_NUMBERS_H

#define SBI_EXT_BASE 0x10
#define SBI_EXT_TIME 0x54494d45
#define SBI_EXT_IPI 0x735049
#define SBI_EXT_HSM 0x48534d

#endif
