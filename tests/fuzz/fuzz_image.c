/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a system image. An image that passes the check must boot and all its VMs must start.
 * The buffer has the exact size of the input, so that the address sanitizer detects reads outside
 * of it.
 */
#include <string.h>

#include "fuzz.h"
#include "host.h"
#include "lib.h"
#include "testbed.h"

#define IMAGE_ALIGN 4096U
#define CHECKSUM_FROM 16U

/* Makes the checksum, the end marker and the board's RAM valid, so that the input gets past these
 * checks. */
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
        image->checksum =
            crc32((const char *)image + CHECKSUM_FROM, image->config_size - CHECKSUM_FROM);
    }
}

/* Whether the image has devices to be reset at a VM's start; the host has none. */
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

/* Reads every byte of every section as a component would find it; the sanitizer detects one outside
 * of the image. */
static void read_sections(const struct sysimage_header *image)
{
    const struct sysimage_section *sections = sysimage_at(image, image->sections_offset);

    for (unsigned i = 0; i < image->nsections; i++) {
        uint32_t size = 0;
        const void *data = sysimage_section(image, sections[i].tag, &size);

        fuzz_check(data != NULL && size != 0 && (uintptr_t)data % 8U == 0
                       ? NULL
                       : "a section that is not found");
        (void)crc32(data, size);
    }
}

static void boot(const struct sysimage_header *image)
{
    host_keeps_ram = true;
    fuzz_check(testbed_boot_checked(image) ? NULL : "an accepted image does not boot");
    for (unsigned i = 0; i < hyp.nvms; i++) {
        testbed_enter(0);
        vm_start(&hyp.vms[i]);
    }
    fuzz_check(testbed_run_until_idle() ? NULL : "the CPUs never become idle");
    fuzz_check(testbed_violation());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *image;

    if (size < sizeof(struct sysimage_header) || posix_memalign(&image, IMAGE_ALIGN, size) != 0) {
        return 0;
    }
    memcpy(image, data, size);
    seal(image, size);
    if (sysimage_check(image, size) == NULL) {
        read_sections(image);
        if (!resets_devices(image)) {
            boot(image);
        }
    }
    memset(&hyp, 0, sizeof(hyp)); /* its image is freed below */
    free(image);
    return 0;
}
