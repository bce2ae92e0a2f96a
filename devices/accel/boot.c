/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the manager from its section of the system image, which it checks. At boot only. */
#include "accel.h"

#include "system.h"

#define MAGIC 0x54534642U /* ID.magic: "TSFB" */
#define MAX_ACCELS (ACCEL_MAX_CLIENTS * ACCEL_MAX_DEVICES)

static struct accel devices[MAX_ACCELS]; /* owner: accel_boot(); see struct accel */

/* Whether an array lies in the section. */
static bool table_fits(uint32_t offset, uint32_t count, uint32_t most, size_t element,
                       uint32_t size)
{
    return count <= most && offset % 8U == 0 && offset <= size && count * element <= size - offset;
}

static const char *check_tables(const struct accel_image *image, uint32_t size)
{
    bool fit = size >= sizeof(*image) &&
               table_fits(image->clients_offset, image->nclients, ACCEL_MAX_CLIENTS,
                          sizeof(struct accel_image_client), size) &&
               table_fits(image->frames_offset, image->nframes, ACCEL_MAX_FRAMES,
                          sizeof(struct accel_image_frames), size) &&
               table_fits(image->devices_offset, image->ndevices, ACCEL_MAX_DEVICES,
                          sizeof(struct accel_image_device), size) &&
               table_fits(image->bitstreams_offset, image->nbitstreams,
                          ACCEL_MAX_DEVICES * ACCEL_MAX_REGIONS,
                          sizeof(struct accel_image_bitstream), size) &&
               table_fits(image->accels_offset, image->naccels, MAX_ACCELS,
                          sizeof(struct accel_image_accel), size) &&
               table_fits(image->overlays_offset, image->noverlays, ACCEL_MAX_OVERLAYS,
                          sizeof(struct accel_image_overlay), size) &&
               table_fits(image->fragments_offset, image->nfragments,
                          ACCEL_MAX_OVERLAYS * ACCEL_MAX_REGIONS,
                          sizeof(struct accel_image_fragment), size) &&
               table_fits(image->provided_offset, image->nprovided, MAX_ACCELS,
                          sizeof(struct accel_image_provided), size);

    return fit ? NULL : "a table of the image's section for the fabric is out of bounds";
}

/* The parameters of the fabric must be large enough for the image. */
static const char *check_fabric(const struct accel_image *image)
{
    uint64_t id, params;

    if (!arch_device_probe(image->fabric + FABRIC_REGS_ID, &id) ||
        ACCEL_FIELD(id, FABRIC_REGS_ID_MAGIC) != MAGIC) {
        return "there is no fabric at the address in the board file";
    }
    params = accel_read(FABRIC_REGS_PARAMS);
    if (ACCEL_FIELD(params, FABRIC_REGS_PARAMS_VMS) < image->nclients + (image->noverlays != 0) ||
        ACCEL_FIELD(params, FABRIC_REGS_PARAMS_DEVS) < image->ndevices ||
        ACCEL_FIELD(params, FABRIC_REGS_PARAMS_PRRS) != image->regions ||
        image->regions > ACCEL_MAX_REGIONS) {
        return "the fabric has fewer VMs or devices, or other regions, than the board file";
    }
    if (ACCEL_FIELD(params, FABRIC_REGS_PARAMS_LIST_DEPTH) <
        image->naccels + (image->noverlays != 0)) {
        return "the VMs have more devices than the fabric's search list has entries";
    }
    return NULL;
}

static const char *set_client(struct accel_vm *c, unsigned number,
                              const struct accel_image_client *config)
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

static const char *set_clients(const struct accel_image *image)
{
    const struct accel_image_client *configs = accel_table(image->clients_offset);
    const char *wrong = NULL;

    for (unsigned i = 0; i < image->nclients && wrong == NULL; i++) {
        wrong = set_client(&accels.clients[i], i, &configs[i]);
    }
    return wrong;
}

static const char *set_accel(struct accel *a, const struct accel_image_accel *config)
{
    struct accel_vm *c;
    hpa_t page;

    if (config->client >= accels.image->nclients || config->device >= accels.image->ndevices ||
        config->gpa != ACCEL_PAGES + config->device * ACCEL_PAGE) {
        return "the image names a client or a device of the fabric that does not exist";
    }
    c = &accels.clients[config->client];
    page = (hpa_t)accels.image->fabric + FABRIC_IFS +
           (16UL * c->number + config->device) * FABRIC_IF_STRIDE;
    a->client = c;
    a->config = config;
    a->name = ACCEL_PUT(FABRIC_REGS_CANCEL_VM, c->number) |
              ACCEL_PUT(FABRIC_REGS_CANCEL_DEV, config->device);
    a->connect = ACCEL_PUT(FABRIC_REGS_PRR_CONNECT_CONNECT, 1) |
                 ACCEL_PUT(FABRIC_REGS_PRR_CONNECT_VM, c->number) |
                 ACCEL_PUT(FABRIC_REGS_PRR_CONNECT_DEV, config->device);
    a->present = true;
    list_init(&a->waiters);
    c->accels[config->device] = a;
    if (!(c->config->operated != 0 ? accel_hide_page(a)
                                   : arch_page_map(&a->page, c->vm, (gpa_t)config->gpa, page))) {
        return "page tables for guests are used up";
    }
    accel_reset_device(a);
    return NULL;
}

static const char *set_accels(const struct accel_image *image)
{
    const struct accel_image_accel *configs = accel_table(image->accels_offset);
    const char *wrong = NULL;

    for (unsigned i = 0; i < image->naccels && wrong == NULL; i++) {
        wrong = set_accel(&devices[i], &configs[i]);
    }
    return wrong;
}

static const char *set_up(const struct accel_image *image)
{
    const char *wrong;

    accels.image = image;
    accels.nregions = image->regions;
    accels.registers = (volatile char *)(ulong)image->fabric;
    wrong = arch_device_map((hpa_t)image->fabric, FABRIC_SPAN) ? check_fabric(image)
                                                               : "page tables are used up";
    if (wrong == NULL) {
        wrong = accel_check_streams();
    }
    if (wrong == NULL) {
        accel_set_devices();
        wrong = set_clients(image);
    }
    if (wrong == NULL) {
        wrong = set_accels(image);
    }
    if (wrong == NULL) {
        accel_delay_init();
        wrong = accel_overlays_init();
    }
    if (wrong == NULL && !arch_device_interrupt(image->irq, accel_interrupt)) {
        wrong = "the interrupt of the fabric is taken";
    }
    if (wrong == NULL) {
        timer_init(&accels.deferred_timer, accel_continue);
        accels.deferred_timer.unlocked = true;
        accel_manager_init();
    }
    return wrong;
}

const char *accel_boot(void)
{
    uint32_t size;
    const struct accel_image *image = sysimage_section(hyp.image, ACCEL_IMAGE_TAG, &size);
    const char *wrong = image != NULL ? check_tables(image, size) : NULL;

    return image != NULL && wrong == NULL ? set_up(image) : wrong;
}
