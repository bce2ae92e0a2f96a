/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the system image on the machine that runs it: sizes, offsets, checksums, and each address
 * against the board's memory. The builder checks much more. At boot only, before anything reads the
 * image. */
#include "sysimage.h"
#include "lib.h"
#include "memmap.h"
#include "system.h"

#define CHECKSUM_FROM 16U /* earlier fields of the header are checked one by one */

/* A table of the image. */
struct table {
    uint32_t offset;     /* bytes from the header */
    uint32_t count, max; /* entries: those that are there, and most */
    size_t entry;        /* bytes of an entry */
};

static bool table_fits(const struct sysimage_header *image, const struct table *t)
{
    return t->count <= t->max && t->offset % 8U == 0 && t->offset <= image->config_size &&
           t->count * t->entry <= image->config_size - t->offset;
}

static bool name_ends(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '\0') {
            return i > 0;
        }
    }
    return false;
}

static const char *check_loads(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    const struct memmap map = {sysimage_at(image, vm->regions_offset), vm->nregions};
    const struct sysimage_load *loads = sysimage_at(image, vm->loads_offset);

    for (unsigned i = 0; i < vm->nloads; i++) {
        uint64_t size = (loads[i].size + 7U) & ~UINT64_C(7);
        hpa_t hpa;

        if (loads[i].offset % 4096U != 0 || loads[i].offset > image->total_size ||
            loads[i].size > image->total_size || size > image->total_size - loads[i].offset) {
            return "a truncated guest image";
        }
        if (loads[i].gpa % 8U != 0 || !memmap_ram(&map, memmap_address(loads[i].gpa), size, &hpa)) {
            return "a guest image outside the guest's memory";
        }
    }
    return NULL;
}

static const char *check_fixups(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    const struct sysimage_load *loads = sysimage_at(image, vm->loads_offset);
    const struct sysimage_fixup *f = sysimage_at(image, vm->fixups_offset);

    for (unsigned i = 0; i < vm->nfixups; i++) {
        if (f[i].load >= vm->nloads || f[i].size > sizeof(f[i].bytes) ||
            f[i].offset > loads[f[i].load].size ||
            f[i].size > loads[f[i].load].size - f[i].offset) {
            return "a fixup outside its load";
        }
    }
    return NULL;
}

static bool vm_tables_fit(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    const struct table tables[] = {
        {vm->regions_offset, vm->nregions, SYSIMAGE_MAX_REGIONS, sizeof(struct sysimage_region)},
        {vm->loads_offset, vm->nloads, SYSIMAGE_MAX_LOADS, sizeof(struct sysimage_load)},
        {vm->irqs_offset, vm->nirqs, SYSIMAGE_MAX_IRQS, sizeof(struct sysimage_irq)},
        {vm->fixups_offset, vm->nfixups, SYSIMAGE_MAX_FIXUPS, sizeof(struct sysimage_fixup)},
    };

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        if (!table_fits(image, &tables[i])) {
            return false;
        }
    }
    return true;
}

static const char *check_numbers(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    if (vm->nvcpus == 0 || vm->nvcpus > SYSIMAGE_MAX_VCPUS_PER_VM) {
        return "a VM with a wrong number of VCPUs";
    }
    if (vm->rt_apps > SYSIMAGE_MAX_RT_APPS) {
        return "a VM with a wrong number of RT apps";
    }
    if (vm->uart_irq > 31U || vm->message_irq > 31U || vm->rtc_irq > 31U ||
        vm->irqs_per_ms > SYSIMAGE_MAX_IRQS_PER_MS) {
        return "a VM with a wrong interrupt number or rate";
    }
    return vm->send_to >> image->nvms != 0 ? "a VM that may send to a VM that does not exist"
                                           : NULL;
}

static const char *check_memory(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    struct memmap map = {sysimage_at(image, vm->regions_offset), vm->nregions};

    hpa_t hpa;

    if (map.count == 0 || map.regions->kind != SYSIMAGE_REGION_RAM) {
        return "a VM whose first memory region is not RAM";
    }
    if (vm->seed != 0 && !memmap_ram(&map, (gpa_t)vm->seed, SYSIMAGE_SEED_SIZE, &hpa)) {
        return "a seed outside the guest's memory";
    }
    return memmap_check(&map, (hpa_t)image->ram_base, image->ram_size);
}

static const char *check_vm(const struct sysimage_header *image, const struct sysimage_vm *vm)
{
    const char *wrong = check_numbers(image, vm);

    if (!name_ends(vm->name, sizeof(vm->name))) {
        return "a VM without a name";
    }
    if (wrong == NULL && !vm_tables_fit(image, vm)) {
        return "a table outside the image";
    }
    wrong = wrong != NULL ? wrong : check_memory(image, vm);
    wrong = wrong != NULL ? wrong : check_loads(image, vm);
    return wrong != NULL ? wrong : check_fixups(image, vm);
}

/* Whether the image's last word is present. vmload.c checks the payloads' checksums when it copies
 * them. */
static bool ends(const struct sysimage_header *image)
{
    return image->total_size % 8U == 0 &&
           *(const uint64_t *)sysimage_at(image, image->total_size - sizeof(uint64_t)) ==
               SYSIMAGE_END;
}

static const char *check_header(const struct sysimage_header *image, uint64_t limit)
{
    if (image->magic != SYSIMAGE_MAGIC) {
        return "no system image after the hypervisor";
    }
    if (image->version != SYSIMAGE_VERSION) {
        return "a system image of another version";
    }
    if (image->config_size < sizeof(*image) || image->config_size > image->total_size ||
        image->total_size > limit) {
        return "inconsistent sizes";
    }
    if (!ends(image)) {
        return "a wrong size: it is truncated";
    }
    if (crc32((const char *)image + CHECKSUM_FROM, image->config_size - CHECKSUM_FROM) !=
        image->checksum) {
        return "a wrong checksum";
    }
    return NULL;
}

/* Time calculations need a whole number of ticks per microsecond (hyp.us). */
static bool whole_mhz(uint64_t hz)
{
    return hz >= 1000000U && hz / 1000000U * 1000000U == hz;
}

static const char *check_limits(const struct sysimage_header *image)
{
    const struct table vms = {image->vms_offset, image->nvms, SYSIMAGE_MAX_VMS,
                              sizeof(struct sysimage_vm)};

    if (image->nharts == 0 || image->nharts > ARCH_MAX_CPUS || image->nvms == 0 ||
        !table_fits(image, &vms)) {
        return "a wrong number of harts or VMs";
    }
    if (image->trace_kib > SYSIMAGE_MAX_TRACE_KIB) {
        return "too much trace";
    }
    if (image->quantum_us - 1U >= SYSIMAGE_QUANTUM_MAX_US || !whole_mhz(image->timebase_hz) ||
        !name_ends(image->name, sizeof(image->name))) {
        return "a wrong quantum, timebase or name";
    }
    return NULL;
}

static const char *check_sections(const struct sysimage_header *image)
{
    const struct table table = {image->sections_offset, image->nsections, SYSIMAGE_MAX_SECTIONS,
                                sizeof(struct sysimage_section)};
    const struct sysimage_section *sections = sysimage_at(image, image->sections_offset);

    if (!table_fits(image, &table)) {
        return "a table of sections outside the image";
    }
    for (unsigned i = 0; i < image->nsections; i++) {
        const struct table data = {sections[i].offset, sections[i].size, image->config_size, 1};

        if (sections[i].size == 0 || !table_fits(image, &data)) {
            return "a section outside the image";
        }
    }
    return NULL;
}

static bool regions_overlap(const struct sysimage_region *a, const struct sysimage_region *b)
{
    bool shared = a->kind == SYSIMAGE_REGION_SHARED && b->kind == SYSIMAGE_REGION_SHARED &&
                  a->hpa == b->hpa && a->size == b->size && a->detail == b->detail;

    return !shared && memmap_overlap(a->hpa, a->size, b->hpa, b->size);
}

/* Whether two VMs have common host memory other than shared regions. */
static bool vms_overlap(const struct sysimage_vm *a, const struct sysimage_vm *b,
                        const struct sysimage_header *image)
{
    const struct sysimage_region *ra = sysimage_at(image, a->regions_offset);
    const struct sysimage_region *rb = sysimage_at(image, b->regions_offset);

    for (unsigned i = 0; i < a->nregions; i++) {
        for (unsigned j = 0; j < b->nregions; j++) {
            if (regions_overlap(&ra[i], &rb[j])) {
                return true;
            }
        }
    }
    return false;
}

static bool too_many_vcpus(const struct sysimage_header *image)
{
    const struct sysimage_vm *vms = sysimage_at(image, image->vms_offset);
    uint32_t vcpus = 0, apps = 0;

    for (unsigned i = 0; i < image->nvms; i++) {
        apps += vms[i].rt_apps;
        vcpus += sysimage_vcpus(&vms[i]);
    }
    return vcpus > SYSIMAGE_MAX_VCPUS || apps > SYSIMAGE_MAX_RT_APPS;
}

static const char *check_vms(const struct sysimage_header *image)
{
    const struct sysimage_vm *vms = sysimage_at(image, image->vms_offset);
    const char *wrong = NULL;

    for (unsigned i = 0; i < image->nvms && wrong == NULL; i++) {
        wrong = check_vm(image, &vms[i]);
        for (unsigned j = 0; j < i && wrong == NULL; j++) {
            wrong = vms_overlap(&vms[i], &vms[j], image) ? "two VMs that share memory" : NULL;
        }
    }
    return wrong == NULL && too_many_vcpus(image) ? "too many VCPUs" : wrong;
}

const char *sysimage_check(const struct sysimage_header *image, uint64_t limit)
{
    const char *wrong = check_header(image, limit);

    wrong = wrong != NULL ? wrong : check_limits(image);
    wrong = wrong != NULL ? wrong : check_sections(image);
    return wrong != NULL ? wrong : check_vms(image);
}

const void *sysimage_section(const struct sysimage_header *image, uint32_t tag, uint32_t *size)
{
    const struct sysimage_section *sections = sysimage_at(image, image->sections_offset);

    for (unsigned i = 0; i < image->nsections; i++) {
        if (sections[i].tag == tag) {
            *size = sections[i].size;
            return sysimage_at(image, sections[i].offset);
        }
    }
    return NULL;
}

const struct sysimage_device *sysimage_device(const struct sysimage_header *image, uint32_t kind,
                                              unsigned vm)
{
    uint32_t size = 0;
    const struct sysimage_device *devices = sysimage_section(image, SYSIMAGE_DEVICES_TAG, &size);

    for (unsigned i = 0; i < size / sizeof(*devices); i++) {
        if (devices[i].kind == kind && devices[i].vm == vm) {
            return &devices[i];
        }
    }
    return NULL;
}
