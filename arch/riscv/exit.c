/* SPDX-License-Identifier: Apache-2.0 */
/* Exits that are neither ecalls nor interrupts. */
#include "arch.h"
#include "internal.h"
#include "vdev.h"

bool guest_fetch(ulong va, uint32_t *insn);
bool fp_take(struct vcpu *v);

struct mmio_result {
    ulong value;
    ulong rd; /* register that takes the value, 0: none */
};

/* For trap.S. */
void exit_trap(struct vcpu *v, ulong cause);
ulong exit_fetch(struct vcpu *v);
struct mmio_result exit_mmio(struct vcpu *v, ulong insn, ulong value);
void hypervisor_panic(void) __attribute__((noreturn));

#define INSN_WFI 0x10500073U
#define INSN_LONG 2UL /* bit 1: 32 bits (in htinst's form bit 1 is 0 for what was compressed) */
#define INSN_OPCODE 0x7cUL
#define OPCODE_LOAD 0x00UL
#define OPCODE_STORE 0x20UL
#define HTINST_PSEUDO 0x3000UL /* an implicit access, of the guest's page-table walk */

void exit_inject(struct vcpu *v, ulong cause, ulong tval)
{
    ulong vsstatus = csr_read(CSR_VSSTATUS);
    ulong sstatus = csr_read(CSR_SSTATUS);

    (void)v;
    csr_write(CSR_VSEPC, csr_read(CSR_SEPC));
    csr_write(CSR_VSCAUSE, cause);
    csr_write(CSR_VSTVAL, tval);
    csr_write(CSR_VSSTATUS, (vsstatus & ~(SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE)) | (sstatus & SSTATUS_SPP) |
                                ((vsstatus & SSTATUS_SIE) != 0 ? SSTATUS_SPIE : 0));
    csr_write(CSR_SSTATUS, sstatus | SSTATUS_SPP);
    csr_write(CSR_SEPC, csr_read(CSR_VSTVEC) & ~3UL);
}

static gpa_t fault_gpa(void)
{
    return (csr_read(CSR_HTVAL) << 2) | (csr_read(CSR_STVAL) & 3U);
}

/* The guest has nothing at that address: an access fault, as on a machine with nothing there. A guest that cannot
 * even fetch its trap handler would take that fault for ever: that is fatal. */
static void exit_no_memory(struct vcpu *v, ulong cause)
{
    ulong pc = csr_read(CSR_SEPC);

    if (cause == CAUSE_FETCH_GUEST_PAGE && pc == (csr_read(CSR_VSTVEC) & ~3UL)) {
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

/* What VS-mode may not do: WFI is ours to emulate, anything else is an illegal instruction to the guest. */
static void exit_virtual_instruction(struct vcpu *v)
{
    ulong insn = csr_read(CSR_STVAL);
    uint32_t fetched;

    if (insn == 0 && guest_fetch(csr_read(CSR_SEPC), &fetched)) {
        insn = fetched; /* stval may be 0 */
    }
    if (insn == INSN_WFI) {
        csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4U);
        vcpu_wait(v);
    } else {
        exit_inject(v, CAUSE_ILLEGAL, insn);
    }
}

void exit_trap(struct vcpu *v, ulong cause)
{
    switch (cause) {
    case CAUSE_VIRTUAL:
        exit_virtual_instruction(v);
        break;
    case CAUSE_ILLEGAL:
        if (!fp_take(v)) {
            exit_inject(v, CAUSE_ILLEGAL, csr_read(CSR_STVAL));
        }
        break;
    case CAUSE_FETCH_GUEST_PAGE:
        exit_no_memory(v, cause);
        break;
    default:
        vm_fatal(v, "a trap that nobody handles", cause, csr_read(CSR_STVAL));
        break;
    }
}

/* --- MMIO --- */

/* The compressed loads and stores in htinst's form: a 32-bit load or store with bit 1 cleared. 0 if it is neither.
 * (Unprivileged ISA, chapter 16: quadrants 0 and 2, funct3 2, 3, 6 and 7.) */
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
    return (funct3 & 4U) == 0 ? (rd << 7) | width | OPCODE_LOAD | 1U : (rs2 << 20) | width | OPCODE_STORE | 1U;
}

ulong exit_fetch(struct vcpu *v)
{
    uint32_t insn;

    (void)v;
    /* The faulting address must be the instruction's own, not its page-table walk's: those differ within the page,
     * but for a walk that happens to hit the same offset, which then reads or writes one device register. */
    if (((fault_gpa() ^ csr_read(CSR_STVAL)) & 0xfffU) != 0 || !guest_fetch(csr_read(CSR_SEPC), &insn)) {
        return HTINST_PSEUDO;
    }
    return (insn & 3U) == 3 ? insn : expand_compressed(insn);
}

static ulong extend(ulong value, ulong funct3)
{
    switch (funct3) {
    case 0:
        return (ulong)(int8_t)value;
    case 1:
        return (ulong)(int16_t)value;
    case 2:
        return (ulong)(int32_t)value;
    case 4:
        return (uint8_t)value;
    case 5:
        return (uint16_t)value;
    case 6:
        return (uint32_t)value;
    default:
        return value;
    }
}

struct mmio_result exit_mmio(struct vcpu *v, ulong insn, ulong value)
{
    gpa_t gpa = fault_gpa();
    const struct vdev *dev = vdev_find(v->vm, gpa);
    ulong funct3 = (insn >> 12) & 7U;
    ulong opcode = insn & INSN_OPCODE;

    if (UNLIKELY(dev == NULL || (insn & 1U) == 0 || (opcode != OPCODE_LOAD && opcode != OPCODE_STORE))) {
        exit_no_memory(v, csr_read(CSR_SCAUSE));
        return (struct mmio_result){0, 0};
    }
    csr_write(CSR_SEPC, csr_read(CSR_SEPC) + ((insn & INSN_LONG) != 0 ? 4U : 2U));
    if (opcode == OPCODE_STORE) {
        dev->write(v, gpa - dev->base, 1U << (funct3 & 3U), value);
        return (struct mmio_result){0, 0};
    }
    return (struct mmio_result){extend(dev->read(v, gpa - dev->base, 1U << (funct3 & 3U)), funct3), (insn >> 7) & 31U};
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
