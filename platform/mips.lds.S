/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the boards' linker scripts; they define ROM, RAM and the end of the hypervisor's
 * RAM. */
#undef mips
OUTPUT_ARCH(mips)
ENTRY(_start)

/* No file headers: linkers would place them wherever there is space. */
PHDRS
{
    rom PT_LOAD;
    data PT_LOAD;
    bss PT_LOAD;
    RESET_HEADER
}

SECTIONS
{
    . = ROM;
    .text : {
        __text_start = .;
        RESET_HERE
        KEEP(*(.vectors))
        *(.text.boot)
        *(.text.trap)
        *(.text .text.*)
        __text_end = .;
    } :rom
    .rodata : {
        *(.got) /* linkers make one for _gp */
        *(.rodata .rodata.* .srodata .srodata.*)
        . = ALIGN(8);
#include "tables.lds.S"
        . = ALIGN(8);
    }
    __data_load = .;
    .data RAM : AT(__data_load) {
        __data_start = .;
        *(.data .data.* .sdata .sdata.*)
        . = ALIGN(8);
        __data_end = .;
    } :data
    /* gp points to mips_cpu. Arrays beyond its reach start near it, for indexed accesses. */
    .bss : AT(ADDR(.bss)) {
#ifdef HYP_MICROMIPS /* all C is one compilation unit */
        *(.sbss .sbss.*)
        *(.bss.bank_owner .bss.hypercall_table)
        *(.bss.mips_cpu)
#endif
        *(EXCLUDE_FILE(*arch/mips/main.c.o *core/system.c.o *ipc/messages.c.o) .bss .bss.* .sbss .sbss.* COMMON)
        *arch/mips/main.c.o(.bss .bss.* .sbss .sbss.*)
        *(.bss .bss.* .sbss .sbss.* COMMON)
        . = ALIGN(8);
        __bss_end = .;
    } :bss
    _gp = mips_cpu;
    RESET_SECTION
    __ram_end = RAM_END;
    __hyp_end = ALIGN(__data_load + (__data_end - __data_start), 4096);
    ASSERT(__bss_end <= RAM_END, "the hypervisor's data fits its RAM")
    /DISCARD/ : {
        *(.note .note.* .eh_frame .eh_frame_hdr .MIPS.* .reginfo .mdebug.* .pdr .comment .gnu.attributes)
    }
}
