/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of the hypervisor that may trap; each has its own trap vector, and the old one is
 * set again before the function returns. The probes serve probe.c at boot; guest_fetch() and
 * guest_load() read memory with the guest's rights while an exit is handled. */
#include "csr.h"
#include "errata_hlv.h"

    .text
    /*
     * struct probe_result probe_run(ulong (*try)(ulong), ulong arg): a0 = what try returned, a1 =
     * 1; a0 = 0, a1 = 0 if it trapped. `try` has one instruction and a return, and changes a0 only.
     */
    .globl  probe_run
probe_run:
    mv      t3, ra
    mv      t4, a0
    la      t0, probe_trapped
    csrrw   t5, CSR_STVEC, t0
    mv      a0, a1
    jalr    t4
    li      a1, 1
1:  csrw    CSR_STVEC, t5
    jr      t3
    .balign 4
probe_trapped:
    li      a0, 0
    li      a1, 0
    j       1b

.macro probe_csr name, csr
    .globl  probe_\name
probe_\name:
    csrr    a0, \csr
    ret
.endm

.macro probe_insn name, encoding
    .globl  probe_\name
probe_\name:
    .4byte  \encoding
    ret
.endm

    .globl  probe_load
probe_load:
    ld      a0, 0(a0)
    ret

    probe_csr hstatus, CSR_HSTATUS
    probe_csr htimedelta, CSR_HTIMEDELTA
    probe_csr henvcfg, CSR_HENVCFG
    probe_csr senvcfg, CSR_SENVCFG
    probe_csr hstateen0, CSR_HSTATEEN0
    probe_csr stimecmp, CSR_STIMECMP
    probe_csr vstimecmp, CSR_VSTIMECMP
    probe_csr instret, CSR_INSTRET
    probe_csr time, CSR_TIME
    probe_insn sh1add, 0x20a52533       /* Zba: sh1add a0, a0, a0 */
    probe_insn clz, 0x60051513          /* Zbb: clz a0, a0 */
    probe_insn bseti, 0x28051513        /* Zbs: bseti a0, a0, 0 */
    probe_insn cbo_clean, 0x0015200f    /* Zicbom: cbo.clean 0(a0) */
    probe_insn cbo_zero, 0x0045200f     /* Zicboz: cbo.zero 0(a0) */
    probe_insn sinval, 0x18000073       /* Svinval: sfence.w.inval */
    probe_insn wrs_sto, 0x01d00073      /* Zawrs: wrs.sto, which never traps because of TW bits */

    /*
     * bool guest_fetch(ulong va, uint32_t *insn): the 16 or 32 bits at the guest-virtual address
     * va, read with the guest's right to execute (HLVX, Privileged Architecture 1.12, section
     * 8.2.4). False if the guest cannot fetch there any more. A trap in here overwrites sepc,
     * sstatus and hstatus of the guest's own trap.
     */
    .globl  guest_fetch
    hlv_align
guest_fetch:
    csrr    t0, CSR_SEPC
    csrr    t1, CSR_SSTATUS
    csrr    t2, CSR_HSTATUS
    la      t3, guest_fetch_trapped
    csrrw   t3, CSR_STVEC, t3
    mv      t4, a0
    hlv_begin t6
    .insn   r 0x73, 4, 0x32, a0, t4, x3 /* hlvx.hu a0, (t4) */
    andi    t5, a0, 3
    addi    t5, t5, -3
    bnez    t5, 1f
    addi    t4, t4, 2
    .insn   r 0x73, 4, 0x32, t5, t4, x3 /* hlvx.hu t5, (t4) */
    slli    t5, t5, 16
    or      a0, a0, t5
1:  hlv_end t6
    sw      a0, 0(a1)
    csrw    CSR_STVEC, t3
    li      a0, 1
    ret
    .balign 4
guest_fetch_trapped:
    hlv_end t6
    csrw    CSR_STVEC, t3
    csrw    CSR_SEPC, t0
    csrw    CSR_SSTATUS, t1
    csrw    CSR_HSTATUS, t2
    li      a0, 0
    ret

    /* ulong guest_load(ulong va, ulong *value): see internal.h. As guest_fetch, with the right to
     * load (HLV). */
    .globl  guest_load
    hlv_align
guest_load:
    csrr    t0, CSR_SEPC
    csrr    t1, CSR_SSTATUS
    csrr    t2, CSR_HSTATUS
    la      t3, guest_load_trapped
    csrrw   t3, CSR_STVEC, t3
    hlv_order
    hlv_begin t6
    .insn   r 0x73, 4, 0x36, a0, a0, x0 /* hlv.d a0, (a0) */
    hlv_end t6
    csrw    CSR_STVEC, t3
    sd      a0, 0(a1)
    li      a0, 0
    ret
    .balign 4
guest_load_trapped:
    hlv_end t6
    csrw    CSR_STVEC, t3
    csrw    CSR_SEPC, t0
    csrw    CSR_SSTATUS, t1
    csrw    CSR_HSTATUS, t2
    csrr    a0, CSR_SCAUSE
    ret
