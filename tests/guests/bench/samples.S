/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two reads of instret around an operation, in assembly so that no other instruction is counted.
 * Every sample has the C type struct bench_sample f(uintptr_t address, uint64_t argument): a0 and
 * a1 in; instructions in a0, value in a1 out.
 */
#include "csr.h"
#include "hcall_asm.h"
#include "ipc_abi.h"

#define SBI_EXT_BASE 0x10
#define SBI_EXT_TIME 0x54494d45
#define SBI_EXT_IPI 0x735049

    .macro function name
    .section .text.\name, "ax", @progbits
    .globl  \name
    .type   \name, @function
    .balign 4
\name:
    .endm

    /* t0, t1: the two reads */
    .macro result value
    mv      a1, \value
    sub     a0, t1, t0
    ret
    .endm

    function sample_empty
    rdinstret t0
    rdinstret t1
    result  zero

    function sample_hcall_get_id
    li      a6, HCALL_INFO_GET_ID
    li      a7, HCALL_EXTENSION
    rdinstret t0
    ecall
    rdinstret t1
    result  a0

    function sample_sbi_version
    li      a6, 0
    li      a7, SBI_EXT_BASE
    rdinstret t0
    ecall
    rdinstret t1
    result  a0

    function sample_sbi_set_timer
    mv      a0, a1
    li      a6, 0
    li      a7, SBI_EXT_TIME
    rdinstret t0
    ecall
    rdinstret t1
    result  a0

    function sample_sbi_ipi
    li      a0, 1
    li      a6, 0
    li      a7, SBI_EXT_IPI
    rdinstret t0
    ecall
    rdinstret t1
    result  a0

    /* From before the call to the first instruction of the software interrupt's handler. */
    function sample_sbi_ipi_handler
    csrr    t2, stvec
    csrr    t3, sie
    la      t0, 2f
    csrw    stvec, t0
    csrwi   sie, 1 << IRQ_SOFT
    csrsi   sstatus, SSTATUS_SIE
    li      a0, 1
    li      a6, 0
    li      a7, SBI_EXT_IPI
    rdinstret t0
    ecall
1:  j       1b                  /* if delivery is not immediate */
    .balign 4
2:  rdinstret t1
    csrci   sip, 1 << IRQ_SOFT
    csrci   sstatus, SSTATUS_SIE
    csrw    sie, t3
    csrw    stvec, t2
    result  zero

    /* An enabled interrupt is pending, so that wfi does not wait. */
    function sample_wfi
    csrr    t3, sie
    csrwi   sie, 1 << IRQ_SOFT
    csrsi   sip, 1 << IRQ_SOFT
    rdinstret t0
    wfi
    rdinstret t1
    csrci   sip, 1 << IRQ_SOFT
    csrw    sie, t3
    result  zero

    function sample_load8
    rdinstret t0
    lbu     t2, 0(a0)
    rdinstret t1
    result  t2

    function sample_store8
    rdinstret t0
    sb      a1, 0(a0)
    rdinstret t1
    result  zero

    function sample_load32
    rdinstret t0
    lwu     t2, 0(a0)
    rdinstret t1
    result  t2

    function sample_store32
    rdinstret t0
    sw      a1, 0(a0)
    rdinstret t1
    result  zero

    /*
     * The sequence of a handler: claim, serve the device so that its line goes low (not counted),
     * complete.
     */
    function sample_claim_serve_complete
    rdinstret t0
    lwu     t2, 0(a0)
    rdinstret t1
    sb      zero, 0(a1)
    rdinstret t3
    sw      t2, 0(a0)
    rdinstret t4
    sub     t4, t4, t3
    add     t1, t1, t4
    result  t2

    function sample_claim_complete
    rdinstret t0
    lwu     t2, 0(a0)
    sw      t2, 0(a0)
    rdinstret t1
    result  t2

    /* argument: size | VM id << 32 */
    .macro  send_arguments call=HCALL_IPC_SEND_MSG
    mv      t2, a0
    slli    a2, a1, 32
    srli    a2, a2, 32
    srli    a0, a1, 32
    mv      a1, t2
    li      a6, \call
    li      a7, HCALL_EXTENSION
    .endm

    function sample_ipc_send
    send_arguments
    rdinstret t0
    ecall
    rdinstret t1
    result  a0

    function sample_ipc_receive
    li      a6, HCALL_IPC_RECV_MSG
    li      a7, HCALL_EXTENSION
    rdinstret t0
    ecall
    rdinstret t1
    beqz    a0, 1f
    mv      a1, a0              /* the error */
1:  sub     a0, t1, t0
    ret

    /* The message contains the instret of its call. Then the receiver runs on this hart. */
    function sample_ipc_deliver
    send_arguments HCALL_IPC_SEND_WAIT
    rdinstret t0
    sd      t0, 8(a1)
    ecall
    rdinstret t1
    result  a0

    function sample_ipc_deliver_wfi
    send_arguments
    rdinstret t0
    sd      t0, 8(a1)
    ecall
    wfi
    rdinstret t1
    result  a0
