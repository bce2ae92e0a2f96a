/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coprocessor 0 for C and assembly: registers, fields, and the VZ and shadow-set instructions that
 * assemblers lack or accept with certain options only.
 */
#ifndef CP0_H
#define CP0_H

/* Registers: number and select. */
#ifdef __ASSEMBLER__
#define CP0_REG(number, select) $number, select
#else
#define CP0_REG(number, select) number, select
#endif

#define CP0_INDEX CP0_REG(0, 0)
#define CP0_ENTRYLO0 CP0_REG(2, 0)
#define CP0_ENTRYLO1 CP0_REG(3, 0)
#define CP0_CONTEXT CP0_REG(4, 0)
#define CP0_USERLOCAL CP0_REG(4, 2)
#define CP0_PAGEMASK CP0_REG(5, 0)
#define CP0_PAGEGRAIN CP0_REG(5, 1)
#define CP0_WIRED CP0_REG(6, 0)
#define CP0_HWRENA CP0_REG(7, 0)
#define CP0_BADVADDR CP0_REG(8, 0)
#define CP0_BADINSTR CP0_REG(8, 1)
#define CP0_BADINSTRP CP0_REG(8, 2)
#define CP0_COUNT CP0_REG(9, 0)
#define CP0_ENTRYHI CP0_REG(10, 0)
#define CP0_GUESTCTL1 CP0_REG(10, 4)
#define CP0_GUESTCTL2 CP0_REG(10, 5)
#define CP0_GUESTCTL3 CP0_REG(10, 6)
#define CP0_COMPARE CP0_REG(11, 0)
#define CP0_GUESTCTL0EXT CP0_REG(11, 4)
#define CP0_STATUS CP0_REG(12, 0)
#define CP0_INTCTL CP0_REG(12, 1)
#define CP0_SRSCTL CP0_REG(12, 2)
#define CP0_SRSMAP CP0_REG(12, 3)
#define CP0_GUESTCTL0 CP0_REG(12, 6)
#define CP0_GTOFFSET CP0_REG(12, 7)
#define CP0_CAUSE CP0_REG(13, 0)
#define CP0_NESTEDEXC CP0_REG(13, 5)
#define CP0_EPC CP0_REG(14, 0)
#define CP0_NESTEDEPC CP0_REG(14, 2)
#define CP0_PRID CP0_REG(15, 0)
#define CP0_EBASE CP0_REG(15, 1)
#define CP0_CONFIG CP0_REG(16, 0)
#define CP0_CONFIG1 CP0_REG(16, 1)
#define CP0_CONFIG3 CP0_REG(16, 3)
#define CP0_CONFIG7 CP0_REG(16, 7)
#define CP0_ERROREPC CP0_REG(30, 0)
#define CP0_KSCRATCH1 CP0_REG(31, 2)
#define CP0_KSCRATCH2 CP0_REG(31, 3)
#define CP0_DEBUG CP0_REG(23, 0)
#define CP0_DEPC CP0_REG(24, 0)
#define CP0_DESAVE CP0_REG(31, 0)

#define STATUS_IE 0x1
#define STATUS_EXL 0x2
#define STATUS_ERL 0x4
#define STATUS_KSU 0x18
#define STATUS_BEV 0x00400000
#define STATUS_TS 0x00200000
#define STATUS_CU0 0x10000000
#define STATUS_IP(n) (0x100 << (n)) /* interrupt n in Status.IM and Cause.IP */

#define CAUSE_CODE_SHIFT 2
#define CAUSE_IV 0x00800000
#define CAUSE_DC_SHIFT 27
#define CAUSE_DC (1 << CAUSE_DC_SHIFT)
#define CAUSE_TI 0x40000000
#define CAUSE_BD 0x80000000

#define EXC_INT 0
#define EXC_MOD 1
#define EXC_TLBL 2
#define EXC_TLBS 3
#define EXC_ADEL 4
#define EXC_ADES 5
#define EXC_IBE 6
#define EXC_DBE 7
#define EXC_SYS 8
#define EXC_RI 10
#define EXC_CPU 11
#define EXC_TLBRI 19
#define EXC_TLBXI 20
#define EXC_MCHECK 24
#define EXC_GE 27 /* exit of a guest; GuestCtl0.GExcCode gives the reason */

#define GEXC_GPSI 0 /* privileged instruction */
#define GEXC_GSFC 1 /* guest writes a field that root controls */
#define GEXC_HC 2   /* hypercall */
#define GEXC_GVA 8  /* a fault whose BadVAddr is the guest's virtual address */
#define GEXC_GHFC 9 /* hardware has changed a watched field */

#define GUESTCTL0_GM 0x80000000
#define GUESTCTL0_MC 0x20000000
#define GUESTCTL0_CP0 0x10000000
#define GUESTCTL0_AT_ROOT 0x04000000  /* guest's use of its MMU registers exits */
#define GUESTCTL0_AT_GUEST 0x0c000000 /* it does not exit */
#define GUESTCTL0_GT 0x02000000
#define GUESTCTL0_CG 0x01000000
#define GUESTCTL0_GEXC_SHIFT 2
#define GUESTCTL0EXT_MG 0x1
#define GUESTCTL0EXT_OG 0x4
#define GUESTCTL0EXT_FCD 0x8
#define GUESTCTL0EXT_CGI 0x10
#define GUESTCTL1_RID_SHIFT 16
#define GUESTCTL2_VIP(n) (0x100 << (n)) /* interrupt n, 2 to 7, without an external controller */
#define GUESTCTL2_GRIPL_SHIFT 24        /* with an external controller */

#define SRSCTL_HSS_SHIFT 26
#define SRSCTL_ESS_SHIFT 12
#define SRSCTL_PSS_SHIFT 6
#define SRSCTL_SET 0xf

#define CONFIG1_WR 0x8  /* watch registers */
#define CONFIG1_PC 0x10 /* performance counters */
#define CONFIG3_VINT 0x20
#define CONFIG3_VEIC 0x40
#define CONFIG3_VZ 0x00800000
#define CONFIG7_HCI 0x00040000 /* hardware initializes the caches at reset */

#define DEBUG_DBD 0x80000000 /* the instruction was in a branch's delay slot */

#define INDEX_P 0x80000000       /* TLBP found no entry */
#define PAGEGRAIN_RIE 0x80000000 /* EntryLo has RI, */
#define PAGEGRAIN_XIE 0x40000000 /* and XI */

#define ENTRYHI_ASID 0xff
#define ENTRYHI_EHINV 0x400
#define ENTRYLO_G 0x1
#define ENTRYLO_V 0x2
#define ENTRYLO_D 0x4
#define ENTRYLO_UNCACHED 0x10
#define ENTRYLO_CACHED 0x18

#define KSEG0 0x80000000
#define KSEG1 0xa0000000

#ifndef __ASSEMBLER__

#include "types.h"

#define CP0_TEXT(...) #__VA_ARGS__
#define CP0_NAME(...) CP0_TEXT(__VA_ARGS__)

/* Volatile, to keep their order: hazards between them depend on it. */
#define cp0_read(reg)                                                          \
    __extension__({                                                            \
        ulong value_;                                                          \
        __asm__ volatile("mfc0 %0, $" CP0_NAME(reg) : "=r"(value_)::"memory"); \
        value_;                                                                \
    })
#define cp0_write(reg, value) \
    __asm__ volatile("mtc0 %z0, $" CP0_NAME(reg)::"Jr"((ulong)(value)) : "memory")
#define gcp0_read(reg)                                                                  \
    __extension__({                                                                     \
        ulong value_;                                                                   \
        __asm__ volatile(".set push\n.set virt\nmfgc0 %0, $" CP0_NAME(reg) "\n.set pop" \
                         : "=r"(value_)::"memory");                                     \
        value_;                                                                         \
    })
#define gcp0_write(reg, value)                                                                 \
    __asm__ volatile(                                                                          \
        ".set push\n.set virt\nmtgc0 %z0, $" CP0_NAME(reg) "\n.set pop" ::"Jr"((ulong)(value)) \
        : "memory")

/* Execution hazard barrier: following instructions see earlier writes to coprocessor 0. */
static inline void ehb(void)
{
    __asm__ volatile("ehb" ::: "memory");
}

#endif
#endif
