/* SPDX-License-Identifier: Apache-2.0 */
/* Linker script of the hypervisor on Spike. LOAD, where firmware enters the hypervisor, is
 * load-address of board.dts; riscv.lds.S has the layout. */
#define LOAD 0x80200000
#include "riscv.lds.S"
