/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor runs in the ROM, which also holds the system image; its data are at the start of
 * RAM. */
#define ROM 0x9fc00000
#define RAM 0x80000000
#ifndef RAM_END /* larger for more VMs, together with board.dts */
#define RAM_END 0x80010000
#endif
/* The core starts in the ROM, too; the vectors start at a page boundary. */
#define RESET_SECTION
#define RESET_HEADER
#define RESET_HERE KEEP(*(.reset)) KEEP(*(.reset.debug)) . = ALIGN(4096);
#include "mips.lds.S"
