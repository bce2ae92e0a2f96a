/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setup of a hart: memory protection, delegation and optional features. Then the traps that trap.S
 * does not handle: calls go to sbi.c and interrupts to rfence.c; an exception that the hart does
 * not delegate is passed on to the guest's kernel or the hypervisor. A trap of the firmware itself
 * ends the machine.
 */
#include "firmware.h"
#include "platform.h"

_Static_assert(sizeof(struct hart) == HART_SIZE && HART_SIZE % 16 == 0, "the stack's alignment");
_Static_assert(offsetof(struct hart, saved) == HART_T0, "for assembly");
_Static_assert(offsetof(struct hart, mtimecmp) == HART_MTIMECMP, "for assembly");
_Static_assert(offsetof(struct hart, mtime) == HART_MTIME, "for assembly");
_Static_assert(offsetof(struct hart, msip) == HART_MSIP, "for assembly");
_Static_assert(offsetof(struct hart, requests) == HART_REQUESTS, "for assembly");
_Static_assert(sizeof(struct frame) <= FRAME_SIZE && FRAME_SIZE % 16 == 0, "for assembly");

char fw_panic_stack[FIRMWARE_STACK_SIZE] __attribute__((aligned(16)));

/* Entries in order of priority: the firmware's RAM, the page of mtime, the rest of the CLINT,
 * everything else. The first three hold for all modes but M. The page of mtime has no mtimecmp, and
 * can be written, too: CVA6 checks a load by the type of the next access, so that a load of mtime
 * with a store behind it would trap on a page that can only be read (CVA6's issue 3234). */
static void protect(void)
{
    ulong time = (FIRMWARE_HIDE & HIDE_MTIME) != 0 ? 0 : PMP_R | PMP_W;

    csr_write(CSR_PMPADDR0, FIRMWARE_BASE >> 2 | (FIRMWARE_SIZE / 2 - 1) >> 2);
    csr_write(CSR_PMPADDR1, ((BOARD_CLINT + CLINT_MTIME) >> 2 & ~0x3ffUL) | 0x1ffUL);
    csr_write(CSR_PMPADDR2, BOARD_CLINT >> 2 | (CLINT_SIZE / 2 - 1) >> 2);
    csr_write(CSR_PMPADDR3, ~0UL >> 10);
    csr_write(CSR_PMPCFG0,
              PMP_NAPOT | (PMP_NAPOT | time) << 8 | PMP_NAPOT << 16 | (PMP_NAPOT | PMP_RWX) << 24);
}

/* Delegates every exception of other modes except ecalls to the firmware, so that a guest's trap
 * never passes through it. The one exception: illegal instructions of a hart without the time CSR,
 * of which one may be a read of it. Misaligned accesses are delegated, too: the firmware does not
 * emulate them. */
static void delegate(void)
{
    ulong illegal = fw_has_time() && (FIRMWARE_HIDE & HIDE_TIME) == 0 ? 1UL << CAUSE_ILLEGAL : 0;

    csr_write(CSR_MEDELEG, illegal | 1UL << CAUSE_FETCH_MISALIGNED | 1UL << CAUSE_FETCH_ACCESS |
                               1UL << CAUSE_BREAKPOINT | 1UL << CAUSE_LOAD_MISALIGNED |
                               1UL << CAUSE_LOAD_ACCESS | 1UL << CAUSE_STORE_MISALIGNED |
                               1UL << CAUSE_STORE_ACCESS | 1UL << CAUSE_ECALL_U |
                               1UL << CAUSE_ECALL_VS | 1UL << CAUSE_FETCH_PAGE |
                               1UL << CAUSE_LOAD_PAGE | 1UL << CAUSE_STORE_PAGE |
                               1UL << CAUSE_SOFTWARE_CHECK | 1UL << CAUSE_HARDWARE_ERROR |
                               1UL << CAUSE_FETCH_GUEST_PAGE | 1UL << CAUSE_LOAD_GUEST_PAGE |
                               1UL << CAUSE_VIRTUAL | 1UL << CAUSE_STORE_GUEST_PAGE);
    csr_write(CSR_MIDELEG, 1UL << IRQ_SSI | 1UL << IRQ_STI | 1UL << IRQ_SEI);
}

/* Gives the hypervisor the counters and the optional features of the hart. */
static void enable_features(struct hart *hart)
{
    ulong time = (FIRMWARE_HIDE & HIDE_TIME) != 0 ? 0 : HCOUNTEREN_TM;
    bool sstc = time != 0 && fw_has_stimecmp();

    csr_write(CSR_MCOUNTEREN, HCOUNTEREN_CY | time | HCOUNTEREN_IR);
    csr_write(CSR_SCOUNTEREN, HCOUNTEREN_CY | time | HCOUNTEREN_IR); /* as OpenSBI does */
    fw_set_menvcfg((sstc ? HENVCFG_STCE : 0) | HENVCFG_PBMTE | HENVCFG_ADUE | HENVCFG_CBZE |
                   HENVCFG_CBCFE | HENVCFG_CBIE);
    fw_set_mstateen0(~0UL);
    hart->mtimecmp = sstc ? NULL : hart->mtimecmp;
}

static void hart_init(struct hart *hart, ulong id)
{
    hart->mtimecmp = (volatile uint64_t *)(BOARD_CLINT + CLINT_MTIMECMP) + id;
    hart->mtime = (const volatile uint64_t *)(BOARD_CLINT + CLINT_MTIME);
    hart->msip = (volatile uint32_t *)(ulong)BOARD_CLINT + id;
    *hart->mtimecmp = ~UINT64_C(0);
    *hart->msip = 0;
    protect();
    delegate();
    enable_features(hart);
}

void fw_start(ulong hartid, ulong tree, struct hart *hart)
{
    hart_init(hart, hartid);
    if (hartid != FIRMWARE_BOOT_HART) {
        hart_wait(hartid, hart);
    }
    tree_reserve(tree);
    hart_enter(hartid, hart, FIRMWARE_NEXT, tree);
}

/* --- traps that another mode is to handle --- */

/* `status` after a trap to the supervisor mode that it belongs to; `from`: the mode that trapped, 0
 * or 1. */
static ulong trapped(ulong status, ulong from)
{
    ulong spie = (status & SSTATUS_SIE) != 0 ? SSTATUS_SPIE : 0;

    return (status & ~(SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE)) | (from != 0 ? SSTATUS_SPP : 0) |
           spie;
}

/* To the kernel of the guest that trapped. V stays 1: QEMU 10.0 could not clear mstatus.MPV. */
static void to_guest(ulong cause, ulong from)
{
    csr_write(CSR_VSSTATUS, trapped(csr_read(CSR_VSSTATUS), from));
    csr_write(CSR_VSEPC, csr_read(CSR_MEPC));
    csr_write(CSR_VSCAUSE, cause);
    csr_write(CSR_VSTVAL, csr_read(CSR_MTVAL));
    csr_write(CSR_MEPC, csr_read(CSR_VSTVEC) & ~3UL);
}

static void to_hypervisor(ulong cause, ulong from)
{
    ulong mstatus = csr_read(CSR_MSTATUS);

    csr_clear(CSR_HSTATUS,
              HSTATUS_SPV | HSTATUS_GVA | ((mstatus & MSTATUS_MPV) != 0 ? HSTATUS_SPVP : 0));
    if ((mstatus & MSTATUS_MPV) != 0) {
        csr_set(CSR_HSTATUS, HSTATUS_SPV | (from != 0 ? HSTATUS_SPVP : 0));
    }
    csr_set(CSR_HSTATUS, (mstatus & MSTATUS_GVA) != 0 ? HSTATUS_GVA : 0);
    csr_write(CSR_SSTATUS, trapped(csr_read(CSR_SSTATUS), from));
    csr_write(CSR_SEPC, csr_read(CSR_MEPC));
    csr_write(CSR_SCAUSE, cause);
    csr_write(CSR_STVAL, csr_read(CSR_MTVAL));
    csr_write(CSR_HTVAL, csr_read(CSR_MTVAL2));
    csr_write(CSR_HTINST, csr_read(CSR_MTINST));
    csr_write(CSR_MEPC, csr_read(CSR_STVEC) & ~3UL);
    csr_clear(CSR_MSTATUS, MSTATUS_MPV);
}

/* Makes the trap what it would be if the hart had delegated it. */
static void redirect(ulong cause)
{
    ulong mstatus = csr_read(CSR_MSTATUS);
    ulong from = (mstatus & MSTATUS_MPP) >> MSTATUS_MPP_SHIFT;

    if ((mstatus & MSTATUS_MPV) != 0 && (csr_read(CSR_HEDELEG) >> cause & 1U) != 0) {
        to_guest(cause, from);
    } else {
        to_hypervisor(cause, from);
    }
    csr_clear(CSR_MSTATUS, MSTATUS_MPP);
    csr_set(CSR_MSTATUS, MSTATUS_MPP_S);
}

void fw_trap(struct frame *frame, struct hart *hart)
{
    ulong cause = csr_read(CSR_MCAUSE);

    if (cause == CAUSE_ECALL_HS) {
        csr_write(CSR_MEPC, csr_read(CSR_MEPC) + 4U);
        sbi_handle(frame, hart);
    } else if ((long)cause < 0) {
        rfence_serve(csr_read(CSR_MHARTID));
    } else {
        redirect(cause);
    }
}

/* --- faults of the firmware --- */

static void print(const char *text)
{
    for (; *text != '\0'; text++) {
        while (!platform_uart_put(*text)) {
        }
    }
}

static void print_hex(const char *what, ulong value)
{
    print(what);
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        char digit = "0123456789abcdef"[value >> (shift - 4) & 15U];

        while (!platform_uart_put(digit)) {
        }
    }
}

void fw_panic(ulong cause, ulong pc, ulong address)
{
    platform_uart_init();
    print_hex("\r\nfirmware: error: trap in M-mode: cause 0x", cause);
    print_hex(" at 0x", pc);
    print_hex(", address 0x", address);
    print("\r\n");
    platform_end(PLATFORM_FAILED);
    for (;;) {
        __asm__ volatile("wfi");
    }
}
