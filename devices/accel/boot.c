/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the manager from its section of the system image. */
#include "vdm.h"

#include "component.h"
#include "system.h"

#define MAGIC 0x54534642U /* ID.magic: "TSFB" */
#define MAX_ACCELS (VDM_MAX_CLIENTS * VDM_MAX_DEVICES)

struct vdm vdm; /* owner: this file */
static struct accel accels[MAX_ACCELS];

/* Whether an array lies in the section. */
static bool table_fits(uint32_t offset, uint32_t count, uint32_t most, size_t element,
                       uint32_t size)
{
    return count <= most && offset % 8U == 0 && offset <= size && count * element <= size - offset;
}

static const char *check_tables(const struct vdm_image *image, uint32_t size)
{
    bool fit =
        size >= sizeof(*image) &&
        table_fits(image->clients_offset, image->nclients, VDM_MAX_CLIENTS,
                   sizeof(struct vdm_image_client), size) &&
        table_fits(image->frames_offset, image->nframes, VDM_MAX_FRAMES,
                   sizeof(struct vdm_image_frames), size) &&
        table_fits(image->devices_offset, image->ndevices, VDM_MAX_DEVICES,
                   sizeof(struct vdm_image_device), size) &&
        table_fits(image->bitstreams_offset, image->nbitstreams, VDM_MAX_DEVICES * VDM_MAX_REGIONS,
                   sizeof(struct vdm_image_bitstream), size) &&
        table_fits(image->accels_offset, image->naccels, MAX_ACCELS, sizeof(struct vdm_image_accel),
                   size) &&
        table_fits(image->overlays_offset, image->noverlays, VDM_MAX_OVERLAYS,
                   sizeof(struct vdm_image_overlay), size) &&
        table_fits(image->fragments_offset, image->nfragments, VDM_MAX_OVERLAYS * VDM_MAX_REGIONS,
                   sizeof(struct vdm_image_fragment), size) &&
        table_fits(image->provided_offset, image->nprovided, MAX_ACCELS,
                   sizeof(struct vdm_image_provided), size);

    return fit ? NULL : "a table of the image's section for the fabric is out of bounds";
}

/* The parameters of the fabric must be large enough for the image. */
static const char *check_fabric(const struct vdm_image *image)
{
    uint64_t id, params;

    if (!arch_device_probe(image->fabric + FABRIC_REGS_ID, &id) ||
        VDM_FIELD(id, FABRIC_REGS_ID_MAGIC) != MAGIC) {
        return "there is no fabric at the address in the board file";
    }
    params = vdm_read(FABRIC_REGS_PARAMS);
    if (VDM_FIELD(params, FABRIC_REGS_PARAMS_VMS) < image->nclients + (image->noverlays != 0) ||
        VDM_FIELD(params, FABRIC_REGS_PARAMS_DEVS) < image->ndevices ||
        VDM_FIELD(params, FABRIC_REGS_PARAMS_PRRS) != image->regions ||
        image->regions > VDM_MAX_REGIONS) {
        return "the fabric has fewer VMs or devices, or other regions, than the board file";
    }
    if (VDM_FIELD(params, FABRIC_REGS_PARAMS_LIST_DEPTH) <
        image->naccels + (image->noverlays != 0)) {
        return "the VMs have more devices than the fabric's search list has entries";
    }
    return NULL;
}

static const char *set_client(struct vdm_client *c, unsigned number,
                              const struct vdm_image_client *config)
{
    if (config->vm >= hyp.nvms) {
        return "the image names a VM that does not exist";
    }
    c->vm = &hyp.vms[config->vm];
    c->config = config;
    c->number = number;
    for (unsigned i = 0; i < c->vm->total && config->operated == 0; i++) {
        c->vm->vcpus[i].data[COMPONENT_ACCEL] = c;
    }
    return NULL;
}

static const char *set_clients(const struct vdm_image *image)
{
    const struct vdm_image_client *configs = vdm_table(image->clients_offset);
    const char *wrong = NULL;

    for (unsigned i = 0; i < image->nclients && wrong == NULL; i++) {
        wrong = set_client(&vdm.clients[i], i, &configs[i]);
    }
    return wrong;
}

static const char *set_accel(struct accel *a, const struct vdm_image_accel *config)
{
    struct vdm_client *c;
    hpa_t page;

    if (config->client >= vdm.image->nclients || config->device >= vdm.image->ndevices ||
        config->gpa != ACCEL_PAGES + config->device * ACCEL_PAGE) {
        return "the image names a client or a device of the fabric that does not exist";
    }
    c = &vdm.clients[config->client];
    page = (hpa_t)vdm.image->fabric + FABRIC_IFS +
           (16UL * c->number + config->device) * FABRIC_IF_STRIDE;
    a->client = c;
    a->config = config;
    a->name =
        VDM_PUT(FABRIC_REGS_CANCEL_VM, c->number) | VDM_PUT(FABRIC_REGS_CANCEL_DEV, config->device);
    a->connect = VDM_PUT(FABRIC_REGS_PRR_CONNECT_CONNECT, 1) |
                 VDM_PUT(FABRIC_REGS_PRR_CONNECT_VM, c->number) |
                 VDM_PUT(FABRIC_REGS_PRR_CONNECT_DEV, config->device);
    a->present = true;
    list_init(&a->waiters);
    c->accels[config->device] = a;
    if (!(c->config->operated != 0 ? vdm_hide_page(a)
                                   : arch_page_map(&a->page, c->vm, (gpa_t)config->gpa, page))) {
        return "page tables for guests are used up";
    }
    vdm_reset_device(a);
    return NULL;
}

static const char *set_accels(const struct vdm_image *image)
{
    const struct vdm_image_accel *configs = vdm_table(image->accels_offset);
    const char *wrong = NULL;

    for (unsigned i = 0; i < image->naccels && wrong == NULL; i++) {
        wrong = set_accel(&accels[i], &configs[i]);
    }
    return wrong;
}

static const char *set_up(const struct vdm_image *image)
{
    const char *wrong;

    vdm.image = image;
    vdm.nregions = image->regions < VDM_MAX_REGIONS ? image->regions : VDM_MAX_REGIONS;
    vdm.registers = (volatile char *)(ulong)image->fabric;
    wrong = arch_device_map((hpa_t)image->fabric, FABRIC_SPAN) ? check_fabric(image)
                                                               : "page tables are used up";
    if (wrong == NULL) {
        wrong = vdm_check_streams();
    }
    if (wrong == NULL) {
        vdm_set_devices();
        wrong = set_clients(image);
    }
    if (wrong == NULL) {
        wrong = set_accels(image);
    }
    if (wrong == NULL) {
        vdm_delay_init();
        wrong = vdm_overlays_init();
    }
    if (wrong == NULL && !arch_device_interrupt(image->irq, vdm_interrupt)) {
        wrong = "the interrupt of the fabric is taken";
    }
    if (wrong == NULL) {
        vdm_manager_init();
    }
    return wrong;
}

static const char *vdm_boot(void)
{
    uint32_t size;
    const struct vdm_image *image = sysimage_section(hyp.image, VDM_IMAGE_TAG, &size);
    const char *wrong = image != NULL ? check_tables(image, size) : NULL;

    return image != NULL && wrong == NULL ? set_up(image) : wrong;
}
ON_BOOT(vdm_boot);
