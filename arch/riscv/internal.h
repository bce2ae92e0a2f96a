/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces between the files of arch/riscv, its folders for components included. Core and the
 * components use the headers of arch/include instead. */
#ifndef INTERNAL_H
#define INTERNAL_H

#include "features.h"
#include "hypercall.h"
#include "sysimage.h"
#include "types.h"
#include "vm.h"

/* --- calls of the firmware's SBI --- */
struct hcall_ret sbi_call(ulong eid, ulong fid, ulong a0, ulong a1, ulong a2);

#define SBI_EXT_BASE 0x10UL
#define SBI_EXT_TIME 0x54494d45UL
#define SBI_EXT_IPI 0x735049UL
#define SBI_EXT_RFENCE 0x52464e43UL
#define SBI_EXT_HSM 0x48534dUL
#define SBI_EXT_SRST 0x53525354UL
#define SBI_EXT_DBCN 0x4442434eUL

/* The functions of these extensions, with the names of the specification (SBI 2.0). */
#define SBI_BASE_GET_SPEC_VERSION 0UL
#define SBI_BASE_GET_IMPL_ID 1UL
#define SBI_BASE_GET_IMPL_VERSION 2UL
#define SBI_BASE_PROBE_EXTENSION 3UL
#define SBI_BASE_GET_MVENDORID 4UL
#define SBI_BASE_GET_MARCHID 5UL
#define SBI_BASE_GET_MIMPID 6UL
#define SBI_TIME_SET_TIMER 0UL
#define SBI_IPI_SEND_IPI 0UL
#define SBI_RFENCE_REMOTE_FENCE_I 0UL
#define SBI_RFENCE_REMOTE_SFENCE_VMA 1UL
#define SBI_RFENCE_REMOTE_SFENCE_VMA_ASID 2UL
#define SBI_HSM_HART_START 0UL
#define SBI_HSM_HART_STOP 1UL
#define SBI_HSM_HART_GET_STATUS 2UL
#define SBI_HSM_HART_SUSPEND 3UL
#define SBI_SRST_SYSTEM_RESET 0UL
#define SBI_DBCN_CONSOLE_WRITE 0UL
#define SBI_DBCN_CONSOLE_READ 1UL
#define SBI_DBCN_CONSOLE_WRITE_BYTE 2UL

/* --- main.c --- */

#define TREE_HEADER 40UL        /* bytes */
#define TREE_LARGEST 0x200000UL /* for a tree that starts below the hypervisor */

/* Size of a device tree in bytes, or 0 if there is none (Devicetree Specification 0.4,
 * section 5.2). */
ulong boot_tree_size(ulong tree);

/* --- probe.c --- */

/* Detects the machine's features. Those that the image hides are not even tried. Returns NULL, or
 * the mandatory feature that is missing. Boot hart only. */
const char *probe_machine(const struct sysimage_header *image);

/* Detects features that need page tables; after hostmap_window(). */
void probe_paging(void);

/* Takes the seed from the firmware's device tree of `size` bytes, if it has one. After
 * probe_machine(). */
void probe_seed(ulong tree, ulong size);

/* Whether the first and the last words of [start, start + size) can be read: firmware protects
 * memory by pages. `start` is 8-byte aligned. */
bool probe_readable(ulong start, ulong size);

/* Disarms this hart's VS timer (Sstc), also if the image hides Sstc. */
void probe_rest_timer(void);

/* Lets guests use senvcfg where Smstateen (State Enable Extension 1.0) would make the access trap.
 * The other state that Smstateen controls stays disabled; no guest is informed of it. */
void probe_allow_senvcfg(void);

/* Whether this hart has the H extension. Called before anything else is probed. */
bool probe_hypervisor(void);

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
    uint64_t *root;     /* 2^root_bits entries, aligned to their size */
    unsigned root_bits; /* 9 for Sv39, 11 for Sv39x4 */
};

/* Maps [va, va + size) to pa with the largest pages that fit. False if no page tables are left.
 * Boot hart only. */
bool pagetable_map(const struct pagetable *pt, uint64_t va, hpa_t pa, uint64_t size, ulong flags);

/* The entry for the 2 MiB page at `va`; allocates the tables above it. NULL if no page tables are
 * left. Boot hart only. */
uint64_t *pagetable_entry_2m(const struct pagetable *pt, uint64_t va);

/* The entry for the 4 KiB page at `va`, which is mapped with pages of that size. */
uint64_t *pagetable_entry_4k(const struct pagetable *pt, uint64_t va);

/* A zeroed root table for a second-stage translation, or NULL if SYSIMAGE_MAX_VMS have been
 * allocated. */
uint64_t *pagetable_root_x4(void);

/* --- probe.S --- */

/* The 16 or 32 bits at the guest-virtual address `va`, read with the guest's right to execute.
 * False if the guest cannot fetch there. */
bool guest_fetch(ulong va, uint32_t *insn);

/* Reads 8 bytes at the guest-virtual address `va` with the access rights of the current VCPU's
 * guest in the mode that it trapped from. Returns 0, or the cause of the trap: a fault of the
 * guest's tables, or CAUSE_LOAD_GUEST_PAGE. */
ulong guest_load(ulong va, ulong *value);

/* --- vm.c --- */

/* The VM's second-stage tables. */
struct pagetable second_stage(const struct vm *vm);

/* --- hostmap.c --- */

/* Builds the hypervisor's own translation; NULL or what failed. */
const char *hostmap_init(const struct sysimage_header *image);

/* Enables the translation on this hart. */
void hostmap_enable(void);

/* Initializes the hart's window. */
void hostmap_window(struct cpu *cpu);

/* Maps a page of the hypervisor in the window with a page-based memory type (Svpbmt) and returns
 * its address. An access traps on machines without Svpbmt. */
ulong hostmap_pbmt_page(struct cpu *cpu);

/* --- plic.c: the machine's PLIC --- */
void plic_init(void);
void plic_hart_init(ulong hartid);

/* Gives host source `irq` to source `guest` of a VM's emulated PLIC. */
void plic_route(unsigned irq, struct vm *vm, unsigned guest);
void plic_handle(void);

/* The guest has completed the passed-through source `irq`, which is claimed in the machine's PLIC:
 * completes it there, now or when the rate limit of its interrupts allows. Caller holds the lock of
 * the source's VM. */
void plic_complete_route(unsigned irq);

/* --- vplic.c --- */
bool vplic_init(struct vm *vm, gpa_t base);
void vplic_reset(struct vm *vm);

/* --- exit.c --- */

/* Injects the exception `cause` with `tval` into the current VCPU. */
void exit_inject(struct vcpu *v, ulong cause, ulong tval);

/* The number of the lowest bit of `bits`, which is not 0. It numbers one of a few VCPUs, so that a
 * loop is fast enough where Zbb is missing. */
static inline unsigned bit_lowest(ulong bits)
{
    unsigned n = 0;

    while ((bits >> n & 1U) == 0) {
        n++;
    }
    return n;
}

/* --- fence.c --- */

/* Invalidates this hart's VS-stage translations and fetched instructions of the loaded VM. */
void fence_local(void);

/* Forgets what this hart holds of the VM's second-stage entries that have changed since its last
 * fence (struct arch_vm). */
void fence_second_stage(struct vm *vm);

/* Makes the VCPUs in `mask` (by VCPU id; they exist) do a fence_local(), and waits until they
 * have, or until another interrupt is pending on this hart. Returns the VCPUs that may not have
 * done it. */
ulong fence_remote(struct vm *vm, ulong mask);

/* --- SBI for guests --- */

/* An SBI extension that guests can call; the arguments are the guest's a0 to a5 and a6. */
struct sbi_extension {
    ulong id;
    struct hcall_ret (*fn)(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong fid);
};

/* Registers an extension; `order`: two digits, unique, lower numbers are searched first. */
#define SBI_EXTENSION(id, fn, order)                                     \
    static const struct sbi_extension sbi_extension_##order REGISTER_IN( \
        "sbi_extensions." #order) = {id, fn}

/* Return values of the handlers. */
#define SBI_RET(error) ((struct hcall_ret){(error), 0})
#define SBI_VALUE(value) ((struct hcall_ret){HCALL_OK, (value)})

bool sbi_known(ulong id);

/* Sets the timer of the current VCPU `v` to `deadline` and clears its pending interrupt. */
void sbi_set_timer(struct vcpu *v, ticks_t deadline);

/* Returned by a handler to make the guest repeat the call with arguments a0 and a1. */
struct hcall_ret sbi_again(ulong a0, ulong a1);

/* Turns an SBI hart mask into a mask of the VM's VCPUs; false if a hart in it does not exist. */
bool sbi_mask(const struct vm *vm, ulong mask, ulong base, ulong *vcpus);

#endif
