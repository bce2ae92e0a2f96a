/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of the hypervisor in the RAM of RISC-V boards, whose linker scripts define LOAD,
 * its first address; the system image follows at __hyp_end. */
#include "hart_stack.h"

OUTPUT_ARCH(riscv)
ENTRY(_start)

SECTIONS
{
    . = LOAD;
    .text : {
        __text_start = .;
        *(.text.boot)
        *(.text.trap)
        *(.text .text.*)
        . = ALIGN(4096);
        __text_end = .;
    }
    .rodata : {
        *(.rodata .rodata.* .srodata .srodata.*)
        . = ALIGN(8);
#include "tables.lds.S"
        __start_sbi_extensions = .;
        KEEP(*(SORT(sbi_extensions.*)))
        __stop_sbi_extensions = .;
        . = ALIGN(4096);
        __rodata_end = .;
    }
    /* bss is part of the image, so that its loader clears it. Stacks are separate: their guard
     * pages are unmapped. */
    .data : {
        *(.data .data.* .sdata .sdata.*)
        *(.bss .bss.* .sbss .sbss.* COMMON)
        . = ALIGN(4096);
        __data_end = .;
    }
    .stacks : {
        hart_stacks = .;
        . += 8 * HART_SIZE;
        boot_cpu = hart_stacks + HART_SIZE - HART_CPU_SIZE;
    }
    __hyp_end = .;
    ASSERT(__hyp_end % 4096 == 0, "the system image is page-aligned")
    /DISCARD/ : {
        *(.note .note.* .eh_frame .eh_frame_hdr)
    }
}
