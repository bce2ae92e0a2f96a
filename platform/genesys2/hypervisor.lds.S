/* SPDX-License-Identifier: Apache-2.0 */
#define LOAD 0x80200000
#include "riscv.lds.S"
