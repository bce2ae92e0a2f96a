/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a system image. What the last check lets through has to boot, every VM has to start, and nothing outside
 * the bytes may be read, which the address sanitizer sees: they are allocated to the byte.
 */
#include <string.h>

#include "fuzz.h"
#include "host.h"
#include "lib.h"
#include "testbed.h"

#define IMAGE_ALIGN 4096U
#define CHECKSUM_FROM 16U

/* The checksum, the end and the board's RAM are as they have to be, or nothing would ever come further than those. */
static void seal(struct sysimage_header *image, size_t size)
{
    const uint64_t end = SYSIMAGE_END;

    image->magic = SYSIMAGE_MAGIC;
    image->version = SYSIMAGE_VERSION;
    image->ram_base = HOST_RAM_BASE;
    image->ram_size = HOST_RAM_SIZE;
    if (image->total_size <= size && image->total_size >= sizeof(*image) + sizeof(end)) {
        memcpy((char *)image + image->total_size - sizeof(end), &end, sizeof(end));
    }
    if (image->config_size >= sizeof(*image) && image->config_size <= size) {
        image->checksum = crc32((const char *)image + CHECKSUM_FROM, image->config_size - CHECKSUM_FROM);
    }
}

/* Devices that are reset when their VM starts: this machine has none. */
static bool resets_devices(const struct sysimage_header *image)
{
    const struct sysimage_vm *vms = sysimage_at(image, image->vms_offset);
    bool found = false;

    for (unsigned i = 0; i < image->nvms; i++) {
        const struct sysimage_region *regions = sysimage_at(image, vms[i].regions_offset);

        for (unsigned j = 0; j < vms[i].nregions; j++) {
            found |= regions[j].kind == SYSIMAGE_REGION_MMIO && regions[j].detail != 0;
        }
    }
    return found;
}

static void boot(const struct sysimage_header *image)
{
    host_keeps_ram = true;
    fuzz_well(testbed_boot_checked(image) ? NULL : "an image that was let through does not boot");
    for (unsigned i = 0; i < hyp.nvms; i++) {
        testbed_enter(0);
        vm_start(&hyp.vms[i]);
    }
    fuzz_well(testbed_settle() ? NULL : "CPUs keep each other busy for ever");
    fuzz_well(testbed_wrong());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *image;

    if (size < sizeof(struct sysimage_header) || posix_memalign(&image, IMAGE_ALIGN, size) != 0) {
        return 0;
    }
    memcpy(image, data, size);
    seal(image, size);
    if (sysimage_check(image, size) == NULL && !resets_devices(image)) {
        boot(image);
    }
    memset(&hyp, 0, sizeof(hyp)); /* whose image is gone */
    free(image);
    return 0;
}
