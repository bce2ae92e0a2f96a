/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a VM's memory at every start: resets devices, clears RAM, copies payloads from the system
 * image (their checksums are verified: see load_refuse()), applies fixups for missing features to
 * the device tree, and writes its seed. Runs in slices of the VM's VCPU 0, one chunk at a time, so
 * that the start of a large VM does not delay other VMs.
 */
#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "console.h"
#include "lib.h"
#include "system.h"
#include "vm.h"

/* Bytes between two polling points; both take as many instructions. */
#define CHUNK_CLEARED UINT64_C(2048)
#define CHUNK_COPIED UINT64_C(512)

enum {
    STAGE_RESET,
    STAGE_VCPUS,
    STAGE_REGIONS_FROM,
    STAGE_LOADS_FROM = STAGE_REGIONS_FROM + SYSIMAGE_MAX_REGIONS,
    STAGE_FIXUPS_FROM = STAGE_LOADS_FROM + SYSIMAGE_MAX_LOADS
};

/* Writes the next chunk at host address `hpa`: from `src`, added to `sums`, or zeros if that is
 * NULL. Returns its size. Not inlined in two places, for the size of the smallest hypervisor. */
OWN_SYMBOL static uint64_t load_chunk(hpa_t hpa, const void *src, uint64_t size,
                                      struct word_sums *sums)
{
    uint64_t room, chunk = src != NULL ? CHUNK_COPIED : CHUNK_CLEARED;
    void *dst = arch_window(hpa, &room);
    uint64_t n = size < chunk ? size : chunk;

    n = n < room ? n : room;
    if (src != NULL) {
        copy_words_summed(dst, src, (size_t)n, sums);
    } else {
        arch_clear(dst, (size_t)n);
    }
    return n;
}

/* Continues with a piece of memory; true when it is complete. */
OWN_SYMBOL static bool load_piece(struct vm *vm, hpa_t hpa, const char *src, uint64_t size)
{
    if (vm->stage_done == 0) {
        vm->sums = (struct word_sums){0, 0};
    }
    while (vm->stage_done < size) {
        uint64_t at = vm->stage_done;

        if (arch_irq_pending()) {
            return false;
        }
        vm->stage_done +=
            load_chunk(hpa + (hpa_t)at, src != NULL ? src + at : NULL, size - at, &vm->sums);
    }
    vm->stage_done = 0;
    return true;
}

void vm_clear_shared(const struct vm *vm)
{
    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        for (uint64_t done = 0; r->kind == SYSIMAGE_REGION_SHARED && done < r->size;) {
            done += load_chunk((hpa_t)(r->hpa + done), NULL, r->size - done, NULL);
        }
    }
}

static bool load_clear(struct vm *vm, unsigned index)
{
    const struct sysimage_region *r = &vm->memmap.regions[index];

    return index >= vm->memmap.count ||
           (r->kind != SYSIMAGE_REGION_RAM && r->kind != SYSIMAGE_REGION_DMA) ||
           load_piece(vm, memmap_cpu_base(r), NULL, r->size);
}

static const struct sysimage_load *load_get(const struct vm *vm, unsigned index)
{
    const struct sysimage_load *loads = sysimage_at(hyp.image, vm->config->loads_offset);

    return &loads[index];
}

/* Stops the VM because a payload in the system image has changed since it was built; other VMs
 * continue. If the VM is being stopped already, that reason is reported instead. */
static void load_refuse(struct vm *vm, unsigned index)
{
    const struct sysimage_load *load = load_get(vm, index);

    if (vm_stop(vm, VM_REASON_PAYLOAD, false)) {
        console_log(
            "error: %s is not started: its payload %u (0x%lx bytes for 0x%lx) has a wrong checksum",
            vm->config->name, index, (ulong)load->size, (ulong)load->gpa);
    }
}

static bool load_copy(struct vm *vm, unsigned index)
{
    const struct sysimage_load *load = load_get(vm, index);
    uint64_t size;
    hpa_t hpa;

    if (index >= vm->config->nloads) {
        return true;
    }
    size = (load->size + 7U) & ~UINT64_C(7);
    /* sysimage_check() has checked that the range is RAM */
    if (memmap_ram(&vm->memmap, (gpa_t)load->gpa, size, &hpa) &&
        !load_piece(vm, hpa, sysimage_at(hyp.image, load->offset), size)) {
        return false;
    }
    if (size != 0 && (vm->sums.words != load->words || vm->sums.sums != load->sums)) {
        load_refuse(vm, index);
        return false;
    }
    return true;
}

static void load_fix(const struct vm *vm, const struct sysimage_fixup *fix)
{
    hpa_t hpa;

    for (uint32_t i = 0; i < fix->size; i++) {
        if (memmap_ram(&vm->memmap, (gpa_t)load_get(vm, fix->load)->gpa + fix->offset + i, 1,
                       &hpa)) {
            uint64_t room;

            *(uint8_t *)arch_window(hpa, &room) = fix->bytes[i];
        }
    }
}

/* Applies a fixup, of a few bytes, if the machine lacks its feature. */
static void load_fixup(const struct vm *vm, unsigned index)
{
    const struct sysimage_fixup *fixups = sysimage_at(hyp.image, vm->config->fixups_offset);

    if (!arch_has(fixups[index].feature)) {
        load_fix(vm, &fixups[index]);
    }
}

void vm_quiesce_devices(const struct vm *vm)
{
    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];
        uint64_t room;

        if (r->kind == SYSIMAGE_REGION_MMIO && r->detail != 0) {
            *(volatile uint32_t *)arch_window((hpa_t)r->hpa + r->detail, &room) = 0;
        }
    }
}

static void load_reset(struct vm *vm)
{
    arch_vcpu_reset(&vm->vcpus[0], (ulong)vm->config->entry, (ulong)vm->config->dtb);
    vm_quiesce_devices(vm);
    spin_lock(&vm->lock);
    vuart_reset(vm);
    arch_vm_reset(vm);
    components_vm_reset(vm);
    spin_unlock(&vm->lock);
}

static void load_mark_stale(struct vm *vm)
{
    for (unsigned i = 0; i < vm->total; i++) {
        vm->vcpus[i].last_cpu = VCPU_NO_CPU; /* cached translations and instructions are stale */
        vm->vcpus[i].pending = 0;
    }
}

/* Reports once the instructions from the hypervisor's entry to the first guest, by the boot CPU's
 * counter; counters of other CPUs start elsewhere. Nothing if another CPU is first, or if the CPU
 * has no counter. Some emulators derive the counter from a clock, unless configured to count. */
static void load_report_boot(void)
{
    static bool reported; /* owner: this function; two CPUs at once would only report twice */
    uint64_t now = arch_instret();

    if (!reported && cpu_self()->id == 0 && now != 0) {
        console_log(
            "boot: instret %lu to the first guest; copying and clearing took %lu of all CPUs",
            (ulong)(now - hyp.entered), (ulong)hyp.load_cost);
    }
    reported = true;
}

/* Continues with the current stage; true when it is complete. The caller has polled interrupts. */
static bool load_stage(struct vm *vm)
{
    unsigned stage = vm->stage;

    if (stage == STAGE_RESET) {
        load_reset(vm);
    } else if (stage == STAGE_VCPUS) {
        load_mark_stale(vm);
    } else if (stage < STAGE_LOADS_FROM) {
        return load_clear(vm, stage - STAGE_REGIONS_FROM);
    } else if (stage < STAGE_FIXUPS_FROM) {
        return load_copy(vm, stage - STAGE_LOADS_FROM);
    } else if (stage < STAGE_FIXUPS_FROM + vm->config->nfixups) {
        load_fixup(vm, stage - STAGE_FIXUPS_FROM);
    } else {
        components_vm_loaded(vm, stage - STAGE_FIXUPS_FROM - vm->config->nfixups);
    }
    return true;
}

bool vm_load_step(struct vm *vm)
{
    unsigned stages = STAGE_FIXUPS_FROM + vm->config->nfixups + COMPONENT_LOAD_STEPS;
    uint64_t start = arch_instret();

    while (vm->stage < stages && !arch_irq_pending() && load_stage(vm)) {
        vm->stage++;
    }
    atomic_add_relaxed(&hyp.load_cost, arch_instret() - start);
    if (vm->stage < stages) {
        return false;
    }
    load_report_boot();
    vm_clock_begin(vm);
    return true;
}
