/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of arch/riscv know of each other. */
#ifndef INTERNAL_H
#define INTERNAL_H

#include "features.h"
#include "hypercall.h"
#include "sysimage.h"
#include "types.h"
#include "vm.h"

/* --- the SBI below us --- */
struct hcall_ret sbi_call(ulong eid, ulong fid, ulong a0, ulong a1, ulong a2);

#define SBI_EXT_BASE 0x10UL
#define SBI_EXT_TIME 0x54494d45UL
#define SBI_EXT_IPI 0x735049UL
#define SBI_EXT_RFENCE 0x52464e43UL
#define SBI_EXT_HSM 0x48534dUL
#define SBI_EXT_SRST 0x53525354UL
#define SBI_EXT_DBCN 0x4442434eUL

/* --- probe.c --- */

/* Fills in what this machine has, less the features that the image hides, which are not tried. Returns NULL, or what is
 * missing that we cannot do without. Boot hart only. */
const char *probe_machine(const struct sysimage_header *image);

/* The same for what shows only in page tables; after hostmap_window(). */
void probe_paging(void);

/* Takes the seed from the firmware's device tree of `size` bytes, if it has one. After probe_machine(). */
void probe_seed(ulong tree, ulong size);

/* Sees to it that this hart's VS timer (Sstc) never comes due until it is set, also where its use is hidden. */
void probe_rest_timer(void);

/* Lets guests use senvcfg also where Smstateen (State Enable Extension 1.0) keeps it from them until told otherwise; of
 * the state that it guards a guest is told of nothing else. */
void probe_allow_senvcfg(void);

/* Does this hart have the H extension? Asked before anything else. */
bool probe_hypervisor(void);

/* Reads 8 bytes at the guest-virtual address `va` as the current VCPU's guest, in the mode that it trapped from, would.
 * Returns 0, or the cause of the trap that the load took: of the guest's tables, or CAUSE_LOAD_GUEST_PAGE. */
ulong guest_load(ulong va, ulong *value);

/* --- hart.c --- */

/* Sets this hart's CSRs for running guests. */
void hart_init(struct cpu *cpu, ulong hartid);

/* --- pagetable.c --- */
#define PTE_V 0x01UL
#define PTE_R 0x02UL
#define PTE_W 0x04UL
#define PTE_X 0x08UL
#define PTE_U 0x10UL
#define PTE_A 0x40UL
#define PTE_D 0x80UL
#define PTE_RW (PTE_R | PTE_W | PTE_A | PTE_D)
#define PTE_RX (PTE_R | PTE_X | PTE_A)
#define PTE_RO (PTE_R | PTE_A)

#define PAGE_4K 0x1000UL
#define PAGE_2M 0x200000UL

struct pagetable {
    uint64_t *root;
    unsigned root_bits; /* 9 for Sv39, 11 for Sv39x4 */
};

/* Maps [va, va + size) to pa with the largest pages that fit. False when the tables are used up. Boot hart only. */
bool pagetable_map(const struct pagetable *pt, uint64_t va, hpa_t pa, uint64_t size, ulong flags);

/* The entry for the 2 MiB page at `va`, its upper tables made. NULL when the tables are used up. Boot hart only. */
uint64_t *pagetable_entry_2m(const struct pagetable *pt, uint64_t va);

/* A zeroed root table for a second-stage translation, or NULL when there are SYSIMAGE_MAX_VMS already. */
uint64_t *pagetable_root_x4(void);

/* --- hostmap.c --- */

/* Builds the hypervisor's own translation; NULL or what failed. */
const char *hostmap_init(const struct sysimage_header *image);

/* Turns it on, on this hart. */
void hostmap_enable(void);

/* Gives the hart its window. */
void hostmap_window(struct cpu *cpu);

/* Maps a page of ours in the window with a page-based memory type (Svpbmt), which traps where there is no such thing. */
ulong hostmap_pbmt_page(struct cpu *cpu);

/* --- plic.c: the machine's PLIC --- */
void plic_init(void);
void plic_hart_init(ulong hartid);

/* Gives host source `irq` to source `guest` of a VM's emulated PLIC. */
void plic_route(unsigned irq, struct vm *vm, unsigned guest);
void plic_handle(void);

/* The guest has completed the passed-through source `irq`, which is claimed: the machine's PLIC forwards it again, at once
 * or when the rate of its interrupts allows. Caller holds the lock of the source's VM. */
void plic_complete_route(unsigned irq);

/* --- vplic.c --- */
bool vplic_init(struct vm *vm, gpa_t base);
void vplic_reset(struct vm *vm);

/* --- exit.c --- */

/* Makes the guest take the exception `cause` with `tval` at its trap vector. */
void exit_inject(struct vcpu *v, ulong cause, ulong tval);

/* The number of the lowest bit of `bits`, which is not 0; of one of a few VCPUs. Machines without Zbb have no
 * instruction for it. */
static inline unsigned bit_lowest(ulong bits)
{
    unsigned n = 0;

    while ((bits >> n & 1U) == 0) {
        n++;
    }
    return n;
}

/* --- fence.c --- */

/* Forgets this hart's VS-stage translations of the loaded VM, and its fetched instructions. */
void fence_local(void);

/* Makes the VCPUs of `mask` (by VCPU id, those that exist) do so, and waits until they have, or another interrupt waits for
 * this hart. Returns those that may not have done so. */
ulong fence_remote(struct vm *vm, ulong mask);

/* --- SBI for guests --- */

/* An extension of the SBI that guests see; the arguments are the guest's a0 to a5 and a6. */
struct sbi_extension {
    ulong id;
    struct hcall_ret (*fn)(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong fid);
};

/* Registers an extension; `order` (two digits, of its own): the lower, the sooner it is found. */
#define SBI_EXTENSION(id, fn, order) \
    static const struct sbi_extension sbi_extension_##order REGISTER_IN("sbi_extensions." #order) = {id, fn}

/* Shorthand of the handlers. */
#define SBI_RET(error) ((struct hcall_ret){(error), 0})
#define SBI_VALUE(value) ((struct hcall_ret){HCALL_OK, (value)})

bool sbi_known(ulong id);

/* The timer of the current VCPU `v` interrupts at `deadline`; one that was pending does not. */
void sbi_set_timer(struct vcpu *v, ticks_t deadline);

/* What a handler returns when the guest shall make the call once more; a0 and a1 are its arguments. */
struct hcall_ret sbi_again(ulong a0, ulong a1);

/* Turns an SBI hart mask into a mask of the VM's VCPUs; false if it names one that does not exist. */
bool sbi_mask(const struct vm *vm, ulong mask, ulong base, ulong *vcpus);

#endif
