/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor runs in the program flash, which also holds the system image; its data are at the
 * start of SRAM. */
#define ROM 0x9d000000
#define RAM 0x80000000
#define RAM_END 0x80010000
/* The core starts in the boot flash. */
#define RESET_SECTION .reset 0xbfc00000 : AT(0xbfc00000) { KEEP(*(.reset)) KEEP(*(.reset.debug)) } :reset
#define RESET_HEADER reset PT_LOAD;
#define RESET_HERE
#include "mips.lds.S"
