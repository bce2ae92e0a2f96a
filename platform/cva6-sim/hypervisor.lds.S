/* SPDX-License-Identifier: Apache-2.0 */
/* Linker script of the hypervisor in the simulation of the SoC. LOAD, where firmware enters the
 * hypervisor, is load-address of soc.dtsi; riscv.lds.S has the layout. */
#define LOAD 0x80200000
#include "riscv.lds.S"
