/* SPDX-License-Identifier: Apache-2.0 */
/* CVA6's errata of HLV and HLVX (docs/errata-cva6.md); the macros are described in
 * ../none/errata_hlv.h. */
#ifndef ERRATA_HLV_H
#define ERRATA_HLV_H

/* Away from the end of a page (3475): the code after the label fits into this alignment. */
.macro hlv_align
    .balign 128
    .endm

    /* Without the hypervisor's own translation: with it, HLVX through a 2 MiB page of the second
     * stage reads the wrong 4 KiB page while vsatp is 0, and a page walk of the hypervisor's own
     * instruction fetch may disturb the access (3475). The hypervisor's addresses are physical. No
     * fence: satp returns to the same tables. */
    .macro hlv_begin reg
    csrrw   \reg, CSR_SATP, zero
    .endm

    .macro hlv_end reg
    csrw    CSR_SATP, \reg
    .endm

    /* HLV may overtake an older store (3389). */
    .macro hlv_order
    fence   rw, rw
    .endm

#endif
