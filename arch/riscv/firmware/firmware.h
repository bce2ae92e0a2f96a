/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware in M-mode, which starts the hypervisor, or a kernel in its place, in HS-mode
 * (docs/porting.md). It has the calls of the SBI that they make, and emulates the time CSR. No
 * instruction of it accesses memory with the rights or the translation of another mode
 * (mstatus.MPRV), so a guest cannot cause a trap inside the firmware.
 */
#ifndef FIRMWARE_H
#define FIRMWARE_H

#include "board.h"
#include "csr.h"

/* The firmware protects this RAM from all other modes; FIRMWARE_SIZE is a power of two, to which
 * the address is aligned. */
#define FIRMWARE_BASE 0x80000000
#define FIRMWARE_SIZE 0x10000
#define FIRMWARE_NEXT 0x80200000 /* entry of the hypervisor */
#define FIRMWARE_HARTS 8
#define FIRMWARE_BOOT_HART 0
#define FIRMWARE_STACK_SIZE 2048

/* SiFive's CLINT. */
#define CLINT_SIZE 0x10000
#define CLINT_MTIMECMP 0x4000
#define CLINT_MTIME 0xbff8

#define CSR_MSTATUS 0x300
#define CSR_MEDELEG 0x302
#define CSR_MIDELEG 0x303
#define CSR_MIE 0x304
#define CSR_MTVEC 0x305
#define CSR_MCOUNTEREN 0x306
#define CSR_MENVCFG 0x30a
#define CSR_MSTATEEN0 0x30c
#define CSR_MSCRATCH 0x340
#define CSR_MEPC 0x341
#define CSR_MCAUSE 0x342
#define CSR_MTVAL 0x343
#define CSR_MIP 0x344
#define CSR_MTINST 0x34a
#define CSR_MTVAL2 0x34b
#define CSR_PMPCFG0 0x3a0
#define CSR_PMPADDR0 0x3b0
#define CSR_PMPADDR1 0x3b1
#define CSR_PMPADDR2 0x3b2
#define CSR_PMPADDR3 0x3b3
#define CSR_MVENDORID 0xf11
#define CSR_MARCHID 0xf12
#define CSR_MIMPID 0xf13
#define CSR_MHARTID 0xf14

#define MSTATUS_SIE (CSR_UL(1) << 1)
#define MSTATUS_FS (CSR_UL(3) << 13)
#define MSTATUS_MPIE (CSR_UL(1) << 7)
#define MSTATUS_MPP_SHIFT 11
#define MSTATUS_MPP (CSR_UL(3) << MSTATUS_MPP_SHIFT)
#define MSTATUS_MPP_S (CSR_UL(1) << MSTATUS_MPP_SHIFT)
#define MSTATUS_GVA (CSR_UL(1) << 38)
#define MSTATUS_MPV (CSR_UL(1) << 39)
#define HSTATUS_GVA (CSR_UL(1) << 6)

#define IRQ_MSI 3
#define IRQ_MTI 7
#define CAUSE_ECALL_HS 9
#define CAUSE_SOFTWARE_CHECK 18
#define CAUSE_HARDWARE_ERROR 19

#define PMP_R 0x01UL
#define PMP_W 0x02UL
#define PMP_RWX 0x07UL
#define PMP_NAPOT 0x18UL

/* Bits of fw_hide: what the firmware withholds, for tests of other machines' properties. */
#define HIDE_TIME 1UL  /* the time CSR, and with it Sstc: as on CVA6 */
#define HIDE_MTIME 2UL /* the CLINT's mtime, as with OpenSBI */

/* struct hart, for assembly. */
#define HART_T0 0
#define HART_T1 8
#define HART_T2 16
#define HART_MTIMECMP 24
#define HART_MTIME 32
#define HART_MSIP 40
#define HART_REQUESTS 72
#define HART_SIZE 80

/* Bits of a hart's requests, which a software interrupt in M-mode announces. */
#define REQUEST_IPI 1
#define REQUEST_FENCE 2

/* struct frame, for assembly. */
#define FRAME_X(n) (8 * (n))
#define FRAME_SIZE 128

#ifndef __ASSEMBLER__

#include "types.h"

enum hart_state {
    HART_ABSENT,
    HART_STOPPED,
    HART_CLAIMED, /* another hart writes entry and arg */
    HART_STARTING,
    HART_STARTED
};

/* At the top of the hart's stack. While the hart is in another mode, mscratch has its address. */
struct hart {
    ulong saved[3];              /* t0 to t2, of the trap that is being handled */
    volatile uint64_t *mtimecmp; /* NULL if the SBI's timer is Sstc's */
    const volatile uint64_t *mtime;
    volatile uint32_t *msip; /* of this hart: raises its software interrupt in M-mode */
    ulong state;             /* enum hart_state; atomic */
    ulong entry;             /* where it starts, while HART_STARTING, and the argument there */
    ulong arg;
    ulong requests; /* REQUEST_*; atomic */
};

/* The registers that C code may change, except for t0 and t1: ra, t2, a0 to a7, t3 to t6. */
struct frame {
    ulong ra, t2;
    ulong a[8];
    ulong t[4];
};

struct sbi_ret {
    long error, value;
};

#define SBI_OK 0L
#define SBI_ERR_NOT_SUPPORTED (-2L)
#define SBI_ERR_INVALID_PARAM (-3L)
#define SBI_ERR_ALREADY_AVAILABLE (-6L)

/* start.S: tries CSRs that not every hart has. Each returns whether the hart has it. */
bool fw_set_menvcfg(ulong value);
bool fw_set_mstateen0(ulong value);
bool fw_has_stimecmp(void);
bool fw_has_time(void);

/* start.S: a byte at a physical address, -1 if there is no memory; whether a byte could be stored.
 * A fault changes mepc and mstatus. */
long fw_load_byte(ulong address);
bool fw_store_byte(ulong address, ulong byte);

/* start.S: enters the hypervisor with these arguments in a0 and a1. */
void fw_enter(ulong hartid, ulong arg, ulong entry, struct hart *hart) __attribute__((noreturn));

/* For start.S and trap.S. */
void fw_start(ulong hartid, ulong tree, struct hart *hart) __attribute__((noreturn));
void fw_trap(struct frame *frame, struct hart *hart);
void fw_panic(ulong cause, ulong pc, ulong address) __attribute__((noreturn));

/* sbi.c: handles an ecall of the hypervisor other than set_timer on a hart without Sstc. */
void sbi_handle(struct frame *frame, struct hart *hart);

/* harts.c: the structure of hart number `id`, below FIRMWARE_HARTS. */
struct hart *hart_get(ulong id);

/* harts.c: waits until another hart calls hart_start for this one, and enters the hypervisor. */
void hart_wait(ulong id, struct hart *hart) __attribute__((noreturn));

/* harts.c: enters the hypervisor. */
void hart_enter(ulong id, struct hart *hart, ulong entry, ulong arg) __attribute__((noreturn));

/* harts.c: the started harts of a mask of the SBI, as bits. False: the mask names a hart that is
 * missing. */
bool harts_from_mask(ulong mask, ulong base, ulong *harts);

/* harts.c: gives harts a request. What was stored before is visible to them. */
void harts_request(ulong harts, ulong request);

struct sbi_ret sbi_hsm(ulong fid, const ulong *args, struct hart *hart);

/* rfence.c: executes the fence that another hart waits for, if there is one. */
void rfence_serve(ulong id);
struct sbi_ret sbi_rfence(ulong fid, ulong mask, ulong base);

/* console.c: the calls of the Debug Console Extension. */
struct sbi_ret sbi_console(ulong fid, const ulong *args);

/* tree.c: reserves the firmware's RAM in the device tree, for a kernel that would use it. */
void tree_reserve(ulong tree);

#endif
#endif
