/* SPDX-License-Identifier: Apache-2.0 */
/* For assembly: what a core's errata require around HLV and HLVX, which access guest memory.
 * Nothing on cores without errata. */
#ifndef ERRATA_HLV_H
#define ERRATA_HLV_H

.macro hlv_align /* before the label of a function with HLV or HLVX at its start */
    .endm

    /* `reg` is free until hlv_end; no access to memory in between but the guest's */
    .macro hlv_begin reg
    .endm

    .macro hlv_end reg /* also where a trap of the access leads */
    .endm

    .macro hlv_order /* before HLV whose data a store of this hart may have written */
    .endm

#endif
