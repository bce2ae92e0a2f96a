/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and exit of the hypervisor.
 *
 * While a guest runs, sscratch holds its struct vcpu. While the hypervisor runs, sscratch is 0, so
 * that one branch detects a trap out of the hypervisor. Interrupts stay disabled in the hypervisor.
 *
 * An exit saves the caller-saved registers of the C ABI (ra, t0-t6, a0-a7) and sp. s0-s11 stay in
 * the registers, because C preserves them, and gp and tp, because C does not use them. They are
 * saved only when another VCPU takes the hart.
 */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "csr.h"
#include "errata_hlv.h"
#include "hypercall_abi.h"
#include "trace_layout.h"

    .section .text.trap, "ax"

.macro save_caller_saved base
    sd      ra, VCPU_X(1)(\base)
    sd      t2, VCPU_X(7)(\base)
    sd      a0, VCPU_X(10)(\base)
    sd      a1, VCPU_X(11)(\base)
    sd      a2, VCPU_X(12)(\base)
    sd      a3, VCPU_X(13)(\base)
    sd      a4, VCPU_X(14)(\base)
    sd      a5, VCPU_X(15)(\base)
    sd      a6, VCPU_X(16)(\base)
    sd      a7, VCPU_X(17)(\base)
    sd      t3, VCPU_X(28)(\base)
    sd      t4, VCPU_X(29)(\base)
    sd      t5, VCPU_X(30)(\base)
    sd      t6, VCPU_X(31)(\base)
    csrrw   t1, CSR_SSCRATCH, zero
    sd      t1, VCPU_X(2)(\base)
.endm

    .balign 64
    .globl  trap_entry
trap_entry:
    csrrw   sp, CSR_SSCRATCH, sp
    beqz    sp, trap_from_hypervisor
    sd      t0, VCPU_X(5)(sp)
    sd      t1, VCPU_X(6)(sp)
exit_traced:
    csrr    t0, CSR_SCAUSE
    addi    t1, t0, -CAUSE_ECALL_VS
    bnez    t1, not_ecall

    /* Resume after the ecall. */
    csrr    t0, CSR_SEPC
    addi    t0, t0, 4
    csrw    CSR_SEPC, t0

    li      t1, HCALL_EXTENSION
    bne     a7, t1, ecall
    /* A hypercall: a0-a5 arguments, a6 its number. On HCALL_AGAIN the guest executes the ecall
     * again. */
hcall:
    sltiu   t0, a6, HCALL_MAX
    save_caller_saved sp
    ld      sp, VCPU_STACK(sp)
    slli    a6, a6, 3
    beqz    t0, no_call
    la      t0, hypercall_table
    add     t0, t0, a6
    ld      t0, 0(t0)
    jalr    t0                      /* (a0-a5), as hypercall_dispatch() */
1:  ld      t0, CPU_CURRENT(sp)
    li      t1, HCALL_AGAIN
    beq     a0, t1, again

    /* a0, a1: results of the call */
answer:
    ld      t1, CPU_FLAGS(sp)
    beqz    t1, resume_with_answer
    sd      a0, VCPU_X(10)(t0)
    sd      a1, VCPU_X(11)(t0)
    j       reschedule

ecall:
    save_caller_saved sp
    ld      sp, VCPU_STACK(sp)
    call    sbi_ecall               /* guest's arguments a0-a5, a6 function, a7 extension */
    ld      t0, CPU_CURRENT(sp)
    j       answer

no_call:
    li      a0, HCALL_ERR_NOT_SUPPORTED
    li      a1, 0
    j       1b

again:
    csrr    t1, CSR_SEPC
    addi    t1, t1, -4
    csrw    CSR_SEPC, t1
    j       leave

not_ecall:
    save_caller_saved sp
    mv      a0, sp
    ld      sp, VCPU_STACK(sp)
    bltz    t0, interrupt
    addi    t1, t0, -CAUSE_LOAD_GUEST_PAGE
    beqz    t1, mmio_load
    addi    t1, t0, -CAUSE_STORE_GUEST_PAGE
    beqz    t1, mmio_store
    mv      a1, t0
    call    exit_trap               /* (vcpu, cause) */
    ld      t0, CPU_CURRENT(sp)
    j       leave

interrupt:
    slli    a0, t0, 1               /* without the interrupt bit */
    addi    t1, a0, -2 * IRQ_STI
    beqz    t1, 1f
    call    irq_handle              /* (2 * number) */
    ld      t0, CPU_CURRENT(sp)
    j       leave
1:  mv      a0, sp                  /* most interrupts are the timer's */
    call    timer_expire            /* (cpu) */
    ld      t0, CPU_CURRENT(sp)
    /* fall through */

    /* t0: current VCPU; sp: this hart's struct cpu, the top of its stack */
leave:
    ld      t1, CPU_FLAGS(sp)
    bnez    t1, reschedule
    .globl  resume
resume:
    ld      a0, VCPU_X(10)(t0)
    ld      a1, VCPU_X(11)(t0)
resume_with_answer:
    csrw    CSR_SSCRATCH, t0
return_traced:
    mv      sp, t0
    ld      ra, VCPU_X(1)(sp)
    ld      t1, VCPU_X(6)(sp)
    ld      t2, VCPU_X(7)(sp)
    ld      a2, VCPU_X(12)(sp)
    ld      a3, VCPU_X(13)(sp)
    ld      a4, VCPU_X(14)(sp)
    ld      a5, VCPU_X(15)(sp)
    ld      a6, VCPU_X(16)(sp)
    ld      a7, VCPU_X(17)(sp)
    ld      t3, VCPU_X(28)(sp)
    ld      t4, VCPU_X(29)(sp)
    ld      t5, VCPU_X(30)(sp)
    ld      t6, VCPU_X(31)(sp)
    ld      t0, VCPU_X(5)(sp)
    ld      sp, VCPU_X(2)(sp)
    sret

    /*
     * Tracing of exits, at no cost without a trace: if the system has one, main.c replaces the
     * instructions in trap_patches by jumps, which lead less than 2 KiB forward. `event` is the
     * place of the event (TRACE_NEXT), whose arg is already written.
     */
.macro trace_event vcpu, ring, event, scratch, kind
    csrr    \scratch, CSR_TIME
    sd      \scratch, EVENT_TIME(\event)
    csrr    \scratch, CSR_INSTRET
    sw      \scratch, EVENT_EXECUTED(\event)
    lw      \scratch, VCPU_TRACE_ID(\vcpu)
    addi    \scratch, \scratch, \kind
    sw      \scratch, EVENT_WHAT(\event)
    addi    \event, \event, EVENT_SIZE
    ld      \scratch, TRACE_END(\ring)
    bgeu    \scratch, \event, 1f
    ld      \event, TRACE_LAPS(\ring)
    addi    \event, \event, 1
    sd      \event, TRACE_LAPS(\ring)
    addi    \event, \ring, TRACE_FIRST
1:  sd      \event, TRACE_NEXT(\ring)
.endm

trace_exit:
    csrrw   sp, CSR_SSCRATCH, sp
    beqz    sp, trap_from_hypervisor
    sd      t0, VCPU_X(5)(sp)
    sd      t1, VCPU_X(6)(sp)
    sd      t2, VCPU_X(7)(sp)
    /* t2: the event's arg, as trace_layout.h describes it */
    csrr    t0, CSR_SCAUSE
    addi    t1, t0, -CAUSE_ECALL_VS
    bnez    t1, 1f
    slli    t1, a7, 64 - 31         /* the extension, without bit 63, the mark of an interrupt */
    slli    t2, a6, 64 - 24         /* the function */
    srli    t1, t1, 1
    srli    t2, t2, 64 - 24 - TRACE_DETAIL_SHIFT
    j       2f
1:  csrr    t1, CSR_HTVAL           /* 0 unless the cause is a guest-page fault */
    csrr    t2, CSR_STVAL
    slli    t1, t1, 2 + TRACE_DETAIL_SHIFT
    andi    t2, t2, 3               /* htval lacks the lowest two bits */
    slli    t2, t2, TRACE_DETAIL_SHIFT
2:  or      t2, t2, t1
    or      t2, t2, t0
    ld      t0, VCPU_STACK(sp)
    ld      t0, CPU_TRACE(t0)
    ld      t1, TRACE_NEXT(t0)
    sd      t2, EVENT_ARG(t1)
    trace_event sp, t0, t1, t2, TRACE_EXIT
    ld      t2, VCPU_X(7)(sp)
    j       exit_traced

trace_return:                       /* a0, a1 already hold the guest's values; t0: its VCPU */
    csrw    CSR_SSCRATCH, t0
    ld      t1, CPU_TRACE(sp)
    ld      t2, TRACE_NEXT(t1)
    sd      zero, EVENT_ARG(t2)
    trace_event t0, t1, t2, t3, TRACE_RETURN
    j       return_traced

    .pushsection .rodata
    .balign 8
    .globl  trap_patches
trap_patches:                       /* address, target */
    .dword  trap_entry, trace_exit
    .dword  hcall, ecall            /* sbi_ecall() traces hypercalls, too */
    .dword  resume_with_answer, trace_return
    .popsection

    /*
     * MMIO: a guest accessed a guest-physical address without memory. The instruction comes from
     * htinst where the hart provides it in "transformed" form; otherwise it is fetched from guest
     * memory, and exit_expand() converts compressed ones to that form. The general register that
     * the instruction names is read or written here: only this code knows which are in registers
     * and which in struct vcpu.
     */
.macro mmio_instruction             /* a0 vcpu, sp cpu -> a0 vcpu, a1 instruction */
    csrr    a1, CSR_HTINST
    ld      t1, CPU_HTINST_MASK(sp)
    and     a1, a1, t1
    bnez    a1, 2f

    /* Fetch with the guest's rights: hlvx.hu (HLVX, Privileged Architecture 1.12, section 8.2.4),
     * twice for 32 bits. It can trap: the guest may have unmapped the instruction since. */
    csrr    t4, CSR_SEPC
    la      t3, fetch_trapped
    csrrw   t3, CSR_STVEC, t3
    hlv_begin t5
    .insn   r 0x73, 4, 0x32, a1, t4, x3
    andi    t2, a1, 3
    addi    t2, t2, -3
    bnez    t2, 1f
    addi    t1, t4, 2
    .insn   r 0x73, 4, 0x32, t2, t1, x3
    slli    t2, t2, 16
    or      a1, a1, t2
1:  hlv_end t5
    csrw    CSR_STVEC, t3
    /* The fault must come from the access, not from its page-table walk. For a walk the page
     * offsets differ; a walk that happens to have the same offset accesses one device register. */
    csrr    t1, CSR_HTVAL
    csrr    t3, CSR_STVAL
    slli    t1, t1, 2
    xor     t1, t1, t3
    slli    t1, t1, 64 - 12
    srli    t1, t1, 64 - 12 + 2     /* htval lacks the lowest two bits */
    bnez    t1, mmio_walk
    bgez    t2, 2f                  /* t2 is -3 to -1 after 16 bits only */
    call    exit_expand             /* (vcpu, instruction) -> a0 vcpu, a1 instruction */
2:
.endm

    hlv_align
mmio_load:
    mmio_instruction
    call    exit_mmio_load          /* (vcpu, instruction) -> a0 value, a1 register, 0: none */
    ld      t0, CPU_CURRENT(sp)
    la      t2, gpr_write
    slli    a1, a1, 3
    add     t2, t2, a1
    jr      t2                      /* returns to leave */

    hlv_align
mmio_store:
    mmio_instruction
    srli    t1, a1, 20 - 3          /* rs2 times the table's entry size of 8 bytes */
    andi    t1, t1, 31 << 3
    la      t2, gpr_read
    add     t2, t2, t1
    jalr    t0, t2                  /* -> a2 */
    call    exit_mmio_store         /* (vcpu, instruction, value) */
    ld      t0, CPU_CURRENT(sp)
    j       leave

    .option push
    .option norvc
gpr_read:                           /* a2 = guest's x[n]; a0 vcpu; returns to t0 */
    li      a2, 0
    jr      t0
    .irp    n, 1, 2
    ld      a2, VCPU_X(\n)(a0)
    jr      t0
    .endr
    .irp    n, 3, 4
    mv      a2, x\n
    jr      t0
    .endr
    .irp    n, 5, 6, 7
    ld      a2, VCPU_X(\n)(a0)
    jr      t0
    .endr
    .irp    n, 8, 9
    mv      a2, x\n
    jr      t0
    .endr
    .irp    n, 10, 11, 12, 13, 14, 15, 16, 17
    ld      a2, VCPU_X(\n)(a0)
    jr      t0
    .endr
    .irp    n, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    mv      a2, x\n
    jr      t0
    .endr
    .irp    n, 28, 29, 30, 31
    ld      a2, VCPU_X(\n)(a0)
    jr      t0
    .endr
gpr_write:                          /* guest's x[n] = a0; t0 vcpu; writes to x[0] are ignored */
    j       leave
    nop
    .irp    n, 1, 2
    sd      a0, VCPU_X(\n)(t0)
    j       leave
    .endr
    .irp    n, 3, 4
    mv      x\n, a0
    j       leave
    .endr
    .irp    n, 5, 6, 7
    sd      a0, VCPU_X(\n)(t0)
    j       leave
    .endr
    .irp    n, 8, 9
    mv      x\n, a0
    j       leave
    .endr
    .irp    n, 10, 11, 12, 13, 14, 15, 16, 17
    sd      a0, VCPU_X(\n)(t0)
    j       leave
    .endr
    .irp    n, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    mv      x\n, a0
    j       leave
    .endr
    .irp    n, 28, 29, 30, 31
    sd      a0, VCPU_X(\n)(t0)
    j       leave
    .endr
    .option pop

    /* The guest's page tables are not in its RAM. */
mmio_walk:
    call    exit_mmio_walk          /* (vcpu) */
    ld      t0, CPU_CURRENT(sp)
    j       leave

    /* The guest's instruction is gone: resume the guest, which takes the fetch fault itself. If
     * its page tables are not in its memory, it would come back here, so exit_fetch_walk()
     * injects the fault. The hypervisor's trap has overwritten sepc and SPP; SPVP still has the
     * guest's mode. */
    .balign 4
fetch_trapped:
    hlv_end t5
    csrw    CSR_STVEC, t3
    csrw    CSR_SEPC, t4
    csrr    t1, CSR_HSTATUS
    li      t2, SSTATUS_SPP         /* SPVP in hstatus has the same bit */
    and     t1, t1, t2
    csrc    CSR_SSTATUS, t2
    csrs    CSR_SSTATUS, t1
    li      t2, HSTATUS_SPV
    csrs    CSR_HSTATUS, t2
    csrr    t1, CSR_SCAUSE
    addi    t1, t1, -CAUSE_LOAD_GUEST_PAGE
    bnez    t1, 1f
    call    exit_fetch_walk         /* (vcpu) */
1:  ld      t0, CPU_CURRENT(sp)
    j       leave

    /*
     * A trap out of the hypervisor is a bug in it (instructions that may trap have their own
     * vector): report the location and stop the machine. The panic stack is used, because this
     * hart's may have overflowed. A second hart that gets here halts; a trap during the panic shuts
     * the machine down silently.
     */
trap_from_hypervisor:
    csrrw   sp, CSR_SSCRATCH, sp    /* stack pointer of the trap; sscratch is 0 again */
    la      t0, panic_stack
    li      t1, HART_STACK_SIZE - HART_CPU_SIZE /* below its own struct cpu, as on a hart's stack */
    add     t1, t1, t0
    bleu    sp, t1, 3f
1:  la      t0, panic_taken
    li      t2, 1
    amoswap.w.aq t2, t2, (t0)
    bnez    t2, 2f
    mv      a0, sp
    mv      sp, t1
    j       hypervisor_panic        /* (stack pointer) */
2:  wfi
    j       2b
3:  bltu    sp, t0, 1b
    mv      sp, t1
    li      a0, 1
    j       arch_shutdown           /* (failure) */

    .section .bss
    .balign HART_STACK_SIZE
panic_stack:
    .skip   HART_STACK_SIZE
panic_taken:
    .word   0
