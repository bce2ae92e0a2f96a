/* SPDX-License-Identifier: Apache-2.0 */
/* Linker script of the hypervisor on the Genesys 2 board. LOAD, where firmware enters the
 * hypervisor, is load-address of soc.dtsi; riscv.lds.S has the layout. */
#define LOAD 0x80200000
#include "riscv.lds.S"
