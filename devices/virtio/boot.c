/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the functions of the VMs' PCI buses from their section of the system image, and follows
 * the life of VMs. */
#include "arch_device.h"
#include "lib.h"
#include "virtio.h"

/* owner: this file; constant after boot, but `stopped` */
static struct virtio_bus buses[SYSIMAGE_MAX_VMS];

/* The hypervisor accesses the memory of a VM with functions without windows. */
static bool map_memory(const struct vm *vm)
{
    bool mapped = true;

    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        mapped = mapped &&
                 (r->kind == SYSIMAGE_REGION_MMIO || arch_device_map(memmap_cpu_base(r), r->size));
    }
    return mapped;
}

static const char *boot_class(struct virtio_device *dev)
{
    const char *wrong = NULL;

    dev->class = virtio_class_of(dev->config->kind);
    if (dev->class == NULL) {
        return "the image has a PCI function of unknown kind";
    }
    dev->offered =
        dev->class->features | VIRTIO_F_VERSION_1 | VIRTIO_F_INDIRECT_DESC | VIRTIO_F_EVENT_IDX;
    dev->required = VIRTIO_F_VERSION_1; /* no legacy driver */
    dev->nqueues = dev->class->queues;
    dev->queue_size = VIRTIO_QUEUE_SIZE;
    dev->requests = dev->class->requests;
    dev->first_bar = VIRTIO_BARS + dev->config->slot * VIRTIO_BAR_SIZE;
    dev->first_bar_size = VIRTIO_BAR_SIZE;
    if (dev->class->boot != NULL) {
        wrong = dev->class->boot(dev);
    }
    if (wrong == NULL) {
        virtio_reset(dev);
        dev->resumes = false; /* nothing waits for it yet */
    }
    return wrong;
}

static const char *add_function(struct virtio_device *dev,
                                const struct virtio_image_function *config)
{
    struct vm *vm = config->vm < hyp.nvms ? &hyp.vms[config->vm] : NULL;
    struct virtio_bus *bus;

    if (vm == NULL) {
        return "the image gives a PCI function to a VM that does not exist";
    }
    bus = &buses[vm->id];
    if (config->slot != bus->count || bus->count == VIRTIO_MAX_FUNCTIONS_PER_VM) {
        return "the image has PCI functions in the wrong order";
    }
    bus->devices = bus->count == 0 ? dev : bus->devices;
    bus->count++;
    vm->vcpus[0].data[COMPONENT_VIRTIO] = bus;
    *dev = (struct virtio_device){.config = config, .vm = vm};
    return boot_class(dev);
}

/* --- disks --- */

static bool overlaps_vm(const struct virtio_image_function *f)
{
    bool found = false;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        found = found || memmap_covers(&hyp.vms[i].memmap, f->disk, f->disk_size);
    }
    return found;
}

static bool disk_fits(const struct virtio_image_function *f)
{
    const struct sysimage_header *image = hyp.image;

    return f->disk % ARCH_RAM_ALIGN == 0 && f->disk_size != 0 && f->disk_size % 512U == 0 &&
           f->disk >= image->ram_base && f->disk - image->ram_base <= image->ram_size &&
           f->disk_size <= image->ram_size - (f->disk - image->ram_base) && !overlaps_vm(f) &&
           f->content <= image->total_size && f->content_size <= image->total_size - f->content &&
           f->content_size <= f->disk_size;
}

/* The content outlives the VM's restarts, so it is written at boot only. */
static const char *fill_disk(const struct virtio_image_function *f)
{
    uint64_t size = (f->disk_size + ARCH_RAM_ALIGN - 1U) & ~(ARCH_RAM_ALIGN - 1U);
    uint64_t *disk;

    if (!disk_fits(f)) {
        return "a disk is not in the board's RAM, or not of its own";
    }
    if (!arch_device_map((hpa_t)f->disk, size)) {
        return "page tables are used up";
    }
    disk = arch_memory((hpa_t)f->disk);
    clear_words(disk, (size_t)f->disk_size);
    /* padded in the image */
    copy_words(disk, sysimage_at(hyp.image, f->content),
               (size_t)(f->content_size + 7U) & ~(size_t)7);
    return NULL;
}

static bool is_in_ram(const struct virtio_image_function *f)
{
    return f->kind == VIRTIO_IMAGE_BLOCK && (f->flags & VIRTIO_IMAGE_SERVED) == 0;
}

static const char *fill_disks(const struct virtio_image_function *functions, unsigned count)
{
    const char *wrong = NULL;

    for (unsigned i = 0; i < count && wrong == NULL; i++) {
        wrong = is_in_ram(&functions[i]) ? fill_disk(&functions[i]) : NULL;
    }
    return wrong;
}

/* --- boot --- */

static const char *check_section(const struct virtio_image *image, uint32_t size)
{
    bool fit =
        size >= sizeof(*image) && image->nfunctions <= VIRTIO_MAX_FUNCTIONS &&
        image->functions_offset % 8U == 0 && image->functions_offset <= size &&
        image->nfunctions * sizeof(struct virtio_image_function) <= size - image->functions_offset;

    return fit ? NULL : "the image's section of PCI functions is out of bounds";
}

static const char *set_up_bus(struct vm *vm)
{
    if (!map_memory(vm)) {
        return "page tables are used up";
    }
    return virtio_pci_init(vm) ? NULL : "a VM has too many emulated devices";
}

static const char *set_up(const struct virtio_image *image)
{
    const void *table = (const char *)image + image->functions_offset;
    const struct virtio_image_function *functions = table;
    const char *wrong = fill_disks(functions, image->nfunctions);

    memset(buses, 0, sizeof(buses));
    pci_backends_boot();
    virtio_lines_init();
    virtio_device_count = image->nfunctions;
    for (unsigned i = 0; i < image->nfunctions && wrong == NULL; i++) {
        wrong = add_function(&virtio_devices[i], &functions[i]);
    }
    for (unsigned i = 0; i < hyp.nvms && wrong == NULL; i++) {
        wrong = buses[i].count > 0 ? set_up_bus(&hyp.vms[i]) : NULL;
    }
    return wrong;
}

const char *virtio_boot(void)
{
    uint32_t size;
    const struct virtio_image *image = sysimage_section(hyp.image, VIRTIO_IMAGE_TAG, &size);
    const char *wrong;

    if (image == NULL) {
        return NULL;
    }
    wrong = check_section(image, size);
    return wrong == NULL ? set_up(image) : wrong;
}

/* False: to be called again. */
static bool stop_function(struct virtio_device *dev)
{
    if (dev->class->config_space != NULL) { /* a function of the machine has no registers here */
        return dev->class->stop(dev);
    }
    return virtio_reset_step(dev);
}

/* None of the VM's VCPUs runs. A function is reset in each call; what others have sent to it is
 * dropped or answered. Once all are, no other VM's work accesses the VM's memory, which is loaded
 * next. */
bool virtio_vm_stop(struct vm *vm)
{
    struct virtio_bus *bus = virtio_bus_of(vm);

    if (bus == NULL || bus->stopped == bus->count) {
        return true;
    }
    if (stop_function(&bus->devices[bus->stopped])) {
        bus->stopped++;
    }
    return false;
}

void virtio_vm_reset(struct vm *vm)
{
    struct virtio_bus *bus = virtio_bus_of(vm);

    if (bus == NULL) {
        return;
    }
    bus->stopped = 0;
    for (unsigned i = 0; i < bus->count; i++) {
        virtio_pci_reset(&bus->devices[i]);
    }
}
