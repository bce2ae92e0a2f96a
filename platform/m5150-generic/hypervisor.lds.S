/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor runs in the ROM, which holds the system image too; its data is at the start of RAM. */
#define ROM 0x9fc00000
#define RAM 0x80000000
#ifndef RAM_END /* for more VMs than usual, together with board.dts */
#define RAM_END 0x80010000
#endif
/* The core starts in the ROM, too; vectors begin at a page. */
#define RESET_SECTION
#define RESET_HEADER
#define RESET_HERE KEEP(*(.reset)) KEEP(*(.reset.debug)) . = ALIGN(4096);
#include "mips.lds.S"
