/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second-stage translation. A VM's memory map becomes entries of the root TLB when the guest first
 * accesses an address, with the largest page size that fits. Entries are tagged with the VM's
 * GuestID, so that they survive VM switches.
 */
#include "asm_layout.h"
#include "internal.h"
#include "memmap.h"
#include "system.h"

#define PAGE_SMALL 0x1000UL
#define PAGE_LARGEST 0x1000000UL
#define PAGEMASK_OF(page) (((page) * 2U - 1U) & ~0x1fffUL)
#define ENTRYLO_PFN(hpa) ((hpa) >> 12 << 6)
#define CONFIG1_MMU(config) ((config) >> 25 & 0x3fU)
#define RID(gid) ((gid) << GUESTCTL1_RID_SHIFT)

#define TLB_MOST 32U /* entries of the root TLB in use */
#define ENTRY(n) (1UL << (n))

static unsigned tlb_size;               /* entries of the root TLB; owner: tlb_init() */
static unsigned tlb_next;               /* entry to replace if none is free; owner: tlb_slot() */
static ulong tlb_free;                  /* ENTRY() bits of unused entries; owner: this file */
static ulong tlb_of[GUEST_IDS];         /* ENTRY() bits by GuestID; owner: this file */
static struct vm *gid_owner[GUEST_IDS]; /* VM that has the GuestID now; owner: tlb_claim() */

/* Entry 0 always maps link_clear's guest (switch.S); the others are free. */
static void map_link(void)
{
    extern const char vectors[];
    ulong page = (ulong)vectors & ~(ulong)KSEG0;

    cp0_write(CP0_GUESTCTL1, RID((ulong)GUEST_ID_LINK));
    cp0_write(CP0_ENTRYHI, 0);
    cp0_write(CP0_ENTRYLO0, ENTRYLO_PFN(page) | ENTRYLO_CACHED | ENTRYLO_V | ENTRYLO_G);
    cp0_write(CP0_ENTRYLO1, ENTRYLO_G);
    cp0_write(CP0_INDEX, 0);
    ehb();
    __asm__ volatile("tlbwi" ::: "memory");
    tlb_next = 1;
    tlb_free = (ENTRY(tlb_size - 1U) << 1) - ENTRY(1);
}

ulong tlb_guest_ids(void)
{
    cp0_write(CP0_GUESTCTL1, GUEST_ID_LINK);
    ehb();
    return cp0_read(CP0_GUESTCTL1) - 1U;
}

void tlb_init(void)
{
    ulong has = CONFIG1_MMU(cp0_read(CP0_CONFIG1)) + 1U;

    tlb_size = has < TLB_MOST ? (unsigned)has : TLB_MOST;
    cp0_write(CP0_ENTRYLO0, 0);
    cp0_write(CP0_ENTRYLO1, 0);
    cp0_write(CP0_PAGEMASK, 0);
    cp0_write(CP0_ENTRYHI, ENTRYHI_EHINV);
    cp0_write(CP0_GUESTCTL1, 0);
    gcp0_write(CP0_ENTRYLO0, 0);
    gcp0_write(CP0_ENTRYLO1, 0);
    gcp0_write(CP0_PAGEMASK, 0);
    gcp0_write(CP0_ENTRYHI, ENTRYHI_EHINV);
    for (ulong i = 0; i < has; i++) {
        cp0_write(CP0_INDEX, i);
        gcp0_write(CP0_INDEX, i);
        ehb();
        __asm__ volatile("tlbwi\n.set push\n.set virt\ntlbgwi\n.set pop" ::: "memory");
    }
    map_link();
}

/* Invalidates the entries of root and guest with GuestCtl1.RID, by TLBINVF and TLBGINVF. */
static void tlb_flush_id(void)
{
    ehb();
    __asm__ volatile(".set push\n.set eva\n.set virt\ntlbinvf\ntlbginvf\n.set pop" ::: "memory");
}

void tlb_flush_guest(const struct vcpu *v)
{
    cp0_write(CP0_GUESTCTL1, v->arch.guestctl1);
    ehb();
    __asm__ volatile(".set push\n.set eva\n.set virt\ntlbginvf\n.set pop" ::: "memory");
}

/* Makes the VM's VCPUs call tlb_claim() (vcpu_arrive()) before they run again. */
static void revoke_id(struct vm *vm)
{
    for (unsigned i = 0; i < vm->total; i++) {
        if (vm->vcpus[i].last_cpu != VCPU_NO_CPU) {
            vm->vcpus[i].last_cpu |= VCPU_TOOK_TURNS;
        }
    }
}

/* Whether the VM's memory map has nothing in [gpa, gpa + size). */
static bool is_empty(const struct memmap *map, ulong gpa, ulong size)
{
    for (unsigned i = 0; i < map->count; i++) {
        const struct sysimage_region *r = &map->regions[i];

        if ((ulong)r->gpa < gpa + size && gpa < (ulong)r->gpa + (ulong)r->size) {
            return false;
        }
    }
    return true;
}

static bool page_fits(const struct memmap *map, const struct sysimage_region *r, ulong gpa,
                      ulong page)
{
    return memmap_has(r, gpa, page) || is_empty(map, gpa, page);
}

/* Whether the pair of pages of this size that contains `gpa` fits. Each page must lie in the
 * region, or contain nothing: two entries may never match the same address. */
static bool pages_fit(const struct memmap *map, const struct sysimage_region *r, ulong gpa,
                      ulong page)
{
    ulong first = gpa & ~(2U * page - 1U);

    return (((ulong)r->hpa - (ulong)r->gpa) & (page - 1U)) == 0 && page_fits(map, r, first, page) &&
           page_fits(map, r, first + page, page);
}

static ulong entry_half(const struct sysimage_region *r, ulong gpa)
{
    ulong flags = ENTRYLO_V | ENTRYLO_D | ENTRYLO_G |
                  (r->kind == SYSIMAGE_REGION_MMIO ? ENTRYLO_UNCACHED : ENTRYLO_CACHED);

    return memmap_has(r, gpa, PAGE_SMALL) ? ENTRYLO_PFN(memmap_host(r, gpa)) | flags : ENTRYLO_G;
}

/* Picks the slot for a new entry. A VM loses an entry only if no slot is free. */
static ulong tlb_slot(void)
{
    ulong slot = tlb_next;

    if (tlb_free != 0) {
        slot = (ulong)__builtin_ctzl(tlb_free);
        tlb_free &= ~ENTRY(slot);
        return slot;
    }
    tlb_next = tlb_next + 1U < tlb_size ? tlb_next + 1U : 1;
    for (unsigned gid = 0; gid < GUEST_IDS; gid++) {
        tlb_of[gid] &= ~ENTRY(slot);
    }
    return slot;
}

/* Writes an entry for the VM, whose RID is in GuestCtl1. */
static void tlb_write(const struct vm *vm, const struct guest_tlb_entry *e)
{
    ulong hi = cp0_read(CP0_ENTRYHI), slot = tlb_slot();

    tlb_of[vm->arch.gid] |= ENTRY(slot);
    cp0_write(CP0_PAGEMASK, e->mask);
    cp0_write(CP0_ENTRYHI, e->hi);
    cp0_write(CP0_ENTRYLO0, e->lo0);
    cp0_write(CP0_ENTRYLO1, e->lo1);
    cp0_write(CP0_INDEX, slot);
    ehb();
    __asm__ volatile("tlbwi" ::: "memory");
    cp0_write(CP0_ENTRYHI, hi);
}

void tlb_claim(struct vcpu *v)
{
    ulong gid = v->vm->arch.gid;

    if (gid_owner[gid] != v->vm) {
        if (gid_owner[gid] != NULL) {
            revoke_id(gid_owner[gid]);
        }
        gid_owner[gid] = v->vm;
        cp0_write(CP0_GUESTCTL1, RID(gid));
        tlb_flush_id();
        tlb_free |= tlb_of[gid];
        tlb_of[gid] = 0;
        /* The VM will probably need the last entry again. */
        if ((v->vm->arch.touched.lo0 | v->vm->arch.touched.lo1) != 0) {
            tlb_write(v->vm, &v->vm->arch.touched);
        }
    }
}

static struct guest_tlb_entry entry_for(const struct sysimage_region *r, ulong gpa, ulong page)
{
    ulong first = gpa & ~(2U * page - 1U);

    return (struct guest_tlb_entry){
        .mask = PAGEMASK_OF(page),
        .hi = first,
        .lo0 = entry_half(r, first),
        .lo1 = entry_half(r, first + page),
    };
}

bool tlb_fill(const struct vcpu *v, ulong gpa)
{
    const struct memmap *map = &v->vm->memmap;

    for (unsigned i = 0; i < map->count; i++) {
        const struct sysimage_region *r = &map->regions[i];
        ulong page = PAGE_LARGEST;

        if (memmap_has(r, gpa, 1)) {
            while (page > PAGE_SMALL && !pages_fit(map, r, gpa, page)) {
                page /= 4U;
            }
            v->vm->arch.touched = entry_for(r, gpa, page);
            tlb_write(v->vm, &v->vm->arch.touched);
            return true;
        }
    }
    return false;
}

/* Makes EntryLo show RI and XI whatever the guest's PageGrain says. Overwrites it. */
static void show_inhibits(void)
{
    gcp0_write(CP0_PAGEGRAIN, PAGEGRAIN_RIE | PAGEGRAIN_XIE);
}

void tlb_save_guest(struct vcpu *v)
{
    show_inhibits();
    for (unsigned i = 0; i < GUEST_TLB; i++) {
        gcp0_write(CP0_INDEX, i);
        ehb();
        __asm__ volatile(".set push\n.set virt\ntlbgr\n.set pop" ::: "memory");
        v->arch.tlb[i] = (struct guest_tlb_entry){
            .hi = gcp0_read(CP0_ENTRYHI),
            .lo0 = gcp0_read(CP0_ENTRYLO0),
            .lo1 = gcp0_read(CP0_ENTRYLO1),
            .mask = gcp0_read(CP0_PAGEMASK),
        };
        /* TLBGR sets GuestCtl1.RID to the entry's; entries of other VMs are not saved. */
        if (cp0_read(CP0_GUESTCTL1) >> GUESTCTL1_RID_SHIFT != v->vm->arch.gid) {
            v->arch.tlb[i].hi = ENTRYHI_EHINV;
        }
        cp0_write(CP0_GUESTCTL1, v->arch.guestctl1);
    }
}

static void write_guest_entry(void)
{
    ehb();
    __asm__ volatile(".set push\n.set virt\ntlbgwi\n.set pop" ::: "memory");
}

/* Only TLBGP writes Index.P: with an entry for address 0 it is cleared, with the empty TLB set.
 * Entry 0 is loaded next. */
static void load_probe_result(ulong index)
{
    gcp0_write(CP0_INDEX, 0);
    gcp0_write(CP0_ENTRYHI, 0);
    if ((index & INDEX_P) == 0) {
        write_guest_entry();
    }
    ehb();
    __asm__ volatile(".set push\n.set virt\ntlbgp\n.set pop" ::: "memory");
}

void tlb_load_guest(const struct vcpu *v)
{
    show_inhibits();
    load_probe_result(v->arch.index);
    for (unsigned i = 0; i < GUEST_TLB; i++) {
        const struct guest_tlb_entry *e = &v->arch.tlb[i];

        gcp0_write(CP0_INDEX, i);
        gcp0_write(CP0_ENTRYHI, e->hi);
        gcp0_write(CP0_ENTRYLO0, e->lo0);
        gcp0_write(CP0_ENTRYLO1, e->lo1);
        gcp0_write(CP0_PAGEMASK, e->mask);
        write_guest_entry();
    }
}

bool tlb_maps(const struct vcpu *v, ulong address, ulong gpa)
{
    for (unsigned i = 0; i < GUEST_TLB; i++) {
        const struct guest_tlb_entry *e = &v->arch.tlb[i];
        ulong pair = e->mask | 0x1fffU, page = (pair >> 1) + 1U,
              lo = (address & page) != 0 ? e->lo1 : e->lo0;
        bool own = (lo & ENTRYLO_G) != 0 || ((e->hi ^ v->arch.entryhi) & ENTRYHI_ASID) == 0;

        if ((e->hi & ENTRYHI_EHINV) == 0 && own && ((e->hi ^ address) & ~pair) == 0 &&
            (((lo << 6) ^ gpa) & ~(page - 1U)) == 0) {
            return true;
        }
    }
    return false;
}
