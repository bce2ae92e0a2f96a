/* SPDX-License-Identifier: Apache-2.0 */
/* Exits other than ecalls and interrupts, for trap.S: virtual instructions, and loads and stores
 * without memory, which it decodes for the emulated devices. Owns no state; the VCPU is the current
 * one. */
#include "arch.h"
#include "component.h"
#include "errata.h"
#include "internal.h"
#include "sched.h"
#include "vdev.h"

/* What a load from a device returns to the assembly. */
struct mmio_result {
    ulong value; /* of the destination register, extended as the load requires */
    ulong rd;    /* destination register, 0: none */
};

/* What the assembly gets for a compressed instruction. */
struct expanded {
    struct vcpu *vcpu; /* unchanged; saves assembly a register */
    ulong insn;        /* the instruction of 32 bits */
};

/* For trap.S. */
void exit_trap(struct vcpu *v, ulong cause);
struct expanded exit_expand(struct vcpu *v, ulong insn);
struct mmio_result exit_mmio_load(struct vcpu *v, ulong insn);
void exit_mmio_store(struct vcpu *v, ulong insn, ulong value);
void exit_mmio_walk(struct vcpu *v);
void exit_fetch_walk(struct vcpu *v);

#define INSN_WFI 0x10500073U
#define INSN_WRS_NTO 0x00d00073U
#define INSN_LONG 2UL /* bit 1: 32 bits (in htinst's form, 0 for a compressed instruction) */
#define INSN_OPCODE 0x7cUL
#define OPCODE_LOAD 0x00UL
#define OPCODE_STORE 0x20UL
#define FUNCT3_UNSIGNED (4UL << 12)

void exit_inject(struct vcpu *v, ulong cause, ulong tval)
{
    ulong vsstatus = csr_read(CSR_VSSTATUS);
    ulong sstatus = csr_read(CSR_SSTATUS);

    (void)v;
    csr_write(CSR_VSEPC, csr_read(CSR_SEPC));
    csr_write(CSR_VSCAUSE, cause);
    csr_write(CSR_VSTVAL, tval);
    csr_write(CSR_VSSTATUS, (vsstatus & ~(SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE)) |
                                (sstatus & SSTATUS_SPP) |
                                ((vsstatus & SSTATUS_SIE) != 0 ? SSTATUS_SPIE : 0));
    csr_write(CSR_SSTATUS, sstatus | SSTATUS_SPP);
    csr_write(CSR_SEPC, csr_read(CSR_VSTVEC) & ~3UL);
}

static gpa_t fault_gpa(void)
{
    return (csr_read(CSR_HTVAL) << 2) | (csr_read(CSR_STVAL) & 3U);
}

/* No memory and no device at the guest-physical address: injects an access fault, as a machine
 * would raise. If the trap vector itself has no memory, the guest would fault forever: that is
 * fatal. Independent of the cause, because QEMU reports a fetch whose page-table walk leaves guest
 * memory as a load. */
static void exit_no_memory(struct vcpu *v, ulong cause)
{
    ulong pc = csr_read(CSR_SEPC);

    if (pc == (csr_read(CSR_VSTVEC) & ~3UL)) {
        vm_fatal(v, "no memory at the trap vector", cause, fault_gpa());
    } else {
        static const uint8_t access_fault[] = {
            [CAUSE_FETCH_GUEST_PAGE] = CAUSE_FETCH_ACCESS,
            [CAUSE_LOAD_GUEST_PAGE] = CAUSE_LOAD_ACCESS,
            [CAUSE_STORE_GUEST_PAGE] = CAUSE_STORE_ACCESS,
        };
        exit_inject(v, access_fault[cause], csr_read(CSR_STVAL));
    }
}

/* Fetches the instruction of a virtual-instruction exception where stval is 0. */
static ulong exit_instruction(void)
{
    uint32_t fetched;

    return guest_fetch(csr_read(CSR_SEPC), &fetched) ? fetched : 0;
}

/* Emulates WFI and WRS.NTO; any other instruction is illegal for the guest. WRS.NTO (Zawrs 1.01)
 * may complete at any time. It must not wait for an interrupt: a store of another VCPU ends it, and
 * that store does not trap. So the VCPU yields the rest of its slice to ready VCPUs, one of which
 * may hold the lock. */
static void exit_virtual_instruction(struct vcpu *v, ulong insn)
{
    const char *fatal = errata_fatal_instruction(insn);

    if (insn == INSN_WFI && (csr_read(CSR_SSTATUS) & SSTATUS_SPP) != 0) { /* illegal in U-mode */
        csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4U);
        v->arch.suspended = false;
        vcpu_wait(v);
    } else if (insn == INSN_WRS_NTO) {
        csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4U);
        sched_end_slice(v);
    } else if (fatal != NULL) {
        vm_fatal(v, fatal, CAUSE_VIRTUAL, csr_read(CSR_SEPC));
    } else {
        exit_inject(v, CAUSE_ILLEGAL, insn);
    }
}

static void exit_other(struct vcpu *v, ulong cause)
{
    if (cause != CAUSE_BREAKPOINT) {
        vm_fatal(v, "an unhandled trap", cause, csr_read(CSR_STVAL));
    } else if (sched_watch == NULL || !sched_watch->breakpoint(v)) {
        arch_cpu_breakpoints(false); /* still set from a debugged VM */
        exit_inject(v, cause, csr_read(CSR_STVAL));
    }
}

void exit_trap(struct vcpu *v, ulong cause)
{
    switch (cause) {
    case CAUSE_VIRTUAL:
        errata_virtual_instruction(v);
        exit_virtual_instruction(v, csr_read(CSR_STVAL) != 0 ? csr_read(CSR_STVAL)
                                                             : exit_instruction());
        break;
    case CAUSE_FETCH_GUEST_PAGE:
        exit_no_memory(v, cause);
        break;
    default:
        exit_other(v, cause);
        break;
    }
}

/* --- MMIO --- */

/* A compressed load or store in htinst's form: the 32-bit load or store with bit 1 cleared. 0 if it
 * is neither. (Unprivileged ISA, chapter 16: quadrants 0 and 2, funct3 2, 3, 6 and 7.) */
static ulong expand_compressed(uint32_t c)
{
    ulong funct3 = (c >> 13) & 7U;
    ulong width = (funct3 & 3U) << 12; /* 2: word, 3: doubleword; as in the 32-bit encoding */
    bool stack = (c & 3U) == 2;
    ulong rd = stack ? (c >> 7) & 31U : ((c >> 2) & 7U) + 8U;
    ulong rs2 = stack ? (c >> 2) & 31U : rd;

    if ((c & 3U) == 1 || (funct3 & 2U) == 0) {
        return 0;
    }
    return (funct3 & 4U) == 0 ? (rd << 7) | width | OPCODE_LOAD | 1U
                              : (rs2 << 20) | width | OPCODE_STORE | 1U;
}

struct expanded exit_expand(struct vcpu *v, ulong insn)
{
    return (struct expanded){v, expand_compressed((uint32_t)insn)};
}

/* No device at the address, or not a load or store that a device could answer. */
static struct mmio_result mmio_refuse(struct vcpu *v)
{
    exit_no_memory(v, csr_read(CSR_SCAUSE));
    return (struct mmio_result){0, 0};
}

void exit_mmio_walk(struct vcpu *v)
{
    exit_no_memory(v, csr_read(CSR_SCAUSE));
}

/* The guest's page tables for the PC are not in its memory. */
void exit_fetch_walk(struct vcpu *v)
{
    exit_no_memory(v, CAUSE_FETCH_GUEST_PAGE);
}

static inline void mmio_skip(ulong insn)
{
    csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 2U + (insn & INSN_LONG));
}

/* The device that answers a naturally aligned access of this width, or NULL. A device that has its
 * last byte has all of it, as its base is a multiple of 8. */
static inline const struct vdev *mmio_device(const struct vcpu *v, gpa_t gpa, unsigned width_log2)
{
    const struct vdev *dev = vdev_find(&v->vm->devs, gpa | ((1UL << width_log2) - 1U));

    return dev != NULL && (dev->widths >> width_log2 & 1U) != 0 ? dev : NULL;
}

static inline bool mmio_read(struct vcpu *v, gpa_t gpa, unsigned width_log2, ulong *value)
{
    const struct vdev *dev = mmio_device(v, gpa, width_log2);

    if (dev == NULL) {
        return false;
    }
    *value = dev->read(v, gpa - dev->base, width_log2);
    return true;
}

static inline bool mmio_write(struct vcpu *v, gpa_t gpa, unsigned width_log2, ulong value)
{
    const struct vdev *dev = mmio_device(v, gpa, width_log2);

    if (dev == NULL) {
        return false;
    }
    dev->write(v, gpa - dev->base, width_log2, value);
    return true;
}

/* Splits a misaligned access into aligned ones, lowest address first, as QEMU does from version 8.2
 * on. If a later piece finds no device, the effects of earlier pieces remain. A load sets *value.
 * Accesses that cross a page are refused: only the guest's page tables know the second page. */
static bool mmio_in_pieces(struct vcpu *v, gpa_t gpa, unsigned width_log2, ulong *value, bool load)
{
    gpa_t end = gpa + (1UL << width_log2);
    unsigned shift = 0;
    ulong all = 0;

    if ((gpa ^ (end - 1U)) >> 12 != 0) {
        return false;
    }
    while (gpa < end) {
        ulong either = gpa | (end - gpa), size = either & (0 - either);
        unsigned log2 = (unsigned)((size >> 1) - (size >> 3)); /* of 1, 2, 4 or 8 */

        const struct vdev *dev = mmio_device(v, gpa, log2);

        if (dev == NULL) {
            return false;
        }
        if (load) {
            all |= dev->read(v, gpa - dev->base, log2) << shift;
        } else {
            dev->write(v, gpa - dev->base, log2, *value >> shift);
        }
        shift += (unsigned)size * 8U;
        gpa += size;
    }
    *value = load ? all : *value;
    return true;
}

static inline bool mmio_aligned(gpa_t gpa, unsigned width_log2)
{
    return (gpa & ((1UL << width_log2) - 1U)) == 0;
}

struct mmio_result exit_mmio_load(struct vcpu *v, ulong insn)
{
    gpa_t gpa = fault_gpa();
    unsigned width_log2 = (unsigned)(insn >> 12) & 3U;
    unsigned shift = 64U - (8U << width_log2);
    ulong value = 0;

    if ((insn & INSN_OPCODE) != OPCODE_LOAD || (insn & 1U) == 0 ||
        !(mmio_aligned(gpa, width_log2) ? mmio_read(v, gpa, width_log2, &value)
                                        : mmio_in_pieces(v, gpa, width_log2, &value, true))) {
        return mmio_refuse(v);
    }
    mmio_skip(insn);
    value <<= shift;
    value = (insn & FUNCT3_UNSIGNED) != 0 ? value >> shift : (ulong)((long)value >> shift);
    return (struct mmio_result){value, (insn >> 7) & 31U};
}

/* A component may answer a store to memory that it has mapped read-only. */
static void mmio_refuse_store(struct vcpu *v, ulong insn, gpa_t gpa, ulong value)
{
    enum write_fault fault = WRITE_REFUSED;

    if ((insn & INSN_OPCODE) == OPCODE_STORE && (insn & 1U) != 0) {
        fault = components_write_fault(v, gpa, 1U << (insn >> 12 & 3U), value);
    }
    if (fault == WRITE_REFUSED) {
        mmio_refuse(v);
    } else if (fault == WRITE_DONE) {
        mmio_skip(insn);
    }
}

void exit_mmio_store(struct vcpu *v, ulong insn, ulong value)
{
    gpa_t gpa = fault_gpa();
    unsigned width_log2 = (unsigned)(insn >> 12) & 3U;

    if ((insn & INSN_OPCODE) != OPCODE_STORE || (insn & 1U) == 0 ||
        !(mmio_aligned(gpa, width_log2) ? mmio_write(v, gpa, width_log2, value)
                                        : mmio_in_pieces(v, gpa, width_log2, &value, false))) {
        mmio_refuse_store(v, insn, gpa, value);
        return;
    }
    mmio_skip(insn);
}

const char *arch_cause_name(ulong cause)
{
    static const char *const names[] = {
        [CAUSE_FETCH_MISALIGNED] = "fetch misaligned",
        [CAUSE_FETCH_ACCESS] = "fetch access fault",
        [CAUSE_ILLEGAL] = "illegal instruction",
        [CAUSE_LOAD_ACCESS] = "load access fault",
        [CAUSE_STORE_ACCESS] = "store access fault",
        [CAUSE_ECALL_VS] = "ecall from VS-mode",
        [CAUSE_FETCH_GUEST_PAGE] = "fetch guest-page fault",
        [CAUSE_LOAD_GUEST_PAGE] = "load guest-page fault",
        [CAUSE_VIRTUAL] = "virtual instruction",
        [CAUSE_STORE_GUEST_PAGE] = "store guest-page fault",
    };

    return cause < ARRAY_SIZE(names) && names[cause] != NULL ? names[cause] : "unknown";
}
