/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the shared devices from their section of the system image, which it checks. At boot
 * only. */
#include "fabric_windows.h"
#include "shared.h"

#define MAGIC 0x5453494FU /* ID.magic: "TSIO" */
#define SLOWEST_HZ 1000000U
#define FASTEST_HZ 1000000000U
#define SECTORS 256U /* that FLASH_WINDOW can give */

static const char *check_section(const struct shared_image *image, uint32_t size)
{
    bool fit = size >= sizeof(*image) && image->base % FABRIC_SHARED_SIZE == 0 &&
               image->nclients <= SHARED_MAX_CLIENTS && image->clients_offset % 8U == 0 &&
               image->clients_offset <= size &&
               image->nclients * sizeof(struct shared_image_client) <= size - image->clients_offset;

    return fit ? NULL : "the image's section for shared devices is out of bounds";
}

/* The hardware must have all that the image uses. */
static const char *check_hardware(const struct shared_image *image)
{
    uint64_t id, params;

    if (!arch_device_probe(image->base + FABRIC_SHARED_ID, &id) ||
        SHARED_FIELD(id, FABRIC_SHARED_ID_MAGIC) != MAGIC) {
        return "there are no shared devices at the address in the board file";
    }
    params = shared_read(FABRIC_SHARED_PARAMS);
    if (SHARED_FIELD(params, FABRIC_SHARED_PARAMS_VMS) < image->nclients ||
        SHARED_FIELD(params, FABRIC_SHARED_PARAMS_WINDOWS) < FABRIC_WINDOWS_OF_VM ||
        (image->devices & ~SHARED_FIELD(params, FABRIC_SHARED_PARAMS_DEVICES)) != 0) {
        return "the hardware has fewer VMs, windows or shared devices than the board file";
    }
    shared.pins = SHARED_FIELD(params, FABRIC_SHARED_PARAMS_PINS);
    return NULL;
}

static bool screen_fits(const struct shared_image *image)
{
    return image->pixel_cycles >> FABRIC_SHARED_SCREEN_PIXEL_CYCLES_WIDTH == 0 &&
           image->burst_cycles >> FABRIC_SHARED_SCREEN_BURST_CYCLES_WIDTH == 0 &&
           image->on_request <= 1U;
}

static bool uart_fits(const struct shared_image *image)
{
    return image->uart_divider >> FABRIC_SHARED_UART_DIVIDER_WIDTH == 0 &&
           image->uart_flush >> FABRIC_SHARED_UART_FLUSH_TIME_WIDTH == 0 &&
           image->uart_mode <= SHARED_UART_MODE_FOCUS && image->uart_focus < SHARED_MAX_CLIENTS;
}

/* Values must fit their registers' fields. */
static const char *check_devices(const struct shared_image *image)
{
    bool fit = image->devices >> SHARED_DEVICES == 0 &&
               image->clock_hz - SLOWEST_HZ <= FASTEST_HZ - SLOWEST_HZ &&
               image->flash_half - 1U < 0xffU && image->flash_deselect <= 0xffU &&
               screen_fits(image) && uart_fits(image);

    for (unsigned i = 0; i < SHARED_CHANNELS; i++) {
        fit = fit && image->channels[i].policy <= 2U && image->channels[i].size - 2U <= 13U;
    }
    return fit ? NULL : "the image has a wrong setting of a shared device";
}

static bool has_pins(uint32_t pins)
{
    return shared.pins >= 32U || pins >> shared.pins == 0;
}

/* Where it is in the VM's memory is the VM's windows' matter. */
static bool framebuffer_fits(const struct shared_image_client *config)
{
    return config->framebuffer == 0 ||
           (config->framebuffer % 8U == 0 &&
            config->framebuffer >> FABRIC_SCREEN_BASE_ADDR_WIDTH == 0 &&
            shared_line_bytes(config->rect.width) >> FABRIC_SCREEN_FORMAT_STRIDE_WIDTH == 0);
}

static bool row_fits(const struct shared_image_client *config)
{
    return config->mac >> FABRIC_SHARED_ETHERNET_MAC_MAC_WIDTH == 0 && config->ethernet < 4U &&
           config->vlan >> FABRIC_SHARED_ETHERNET_SET_VLAN_WIDTH == 0;
}

static const char *check_rights(const struct shared_image_client *config)
{
    bool fit = (config->devices & ~shared.image->devices) == 0 && config->flash_first < SECTORS &&
               config->flash_sectors <= SECTORS - config->flash_first && has_pins(config->pins) &&
               row_fits(config) && framebuffer_fits(config);

    for (unsigned i = 0; i < SHARED_CHANNELS; i++) {
        fit = fit && config->priority[i] >> FABRIC_SHARED_ALLOW_PRIO_WIDTH == 0;
    }
    return fit ? NULL : "the image gives a VM what no shared device has";
}

/* The pages are small, and would replace entries of large ones. */
static bool pages_fit(const struct vm *vm, uint64_t gpa)
{
    uint64_t size = (uint64_t)SHARED_DEVICES * SHARED_PAGE;
    bool free = gpa % SHARED_PAGE == 0 && gpa <= ARCH_GPA_LIMIT - size;

    for (unsigned i = 0; i < vm->memmap.count && free; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        free = !memmap_overlap(gpa, size, r->gpa, r->size);
    }
    return free;
}

static const char *set_client(struct shared_client *c, unsigned number,
                              const struct shared_image_client *config)
{
    struct vm *vm = config->vm < hyp.nvms ? &hyp.vms[config->vm] : NULL;

    if (vm == NULL || shared_client_of(vm) != NULL) {
        return "the image gives shared devices to a VM that does not exist, or twice to one";
    }
    if (!pages_fit(vm, config->gpa)) {
        return "the pages of shared devices are where a VM has memory";
    }
    *c = (struct shared_client){.vm = vm, .config = config, .number = number};
    vm->vcpus[0].data[COMPONENT_SHARED] = c;
    return check_rights(config);
}

/* Gives the client its pages, which it accesses without the hypervisor, and its interrupt. */
static const char *connect(const struct shared_client *c)
{
    bool mapped = true;

    for (unsigned device = 0; device < SHARED_DEVICES; device++) {
        if (shared_has(c->config->devices, device) &&
            (device != SHARED_DISPLAY || !shared_has_framebuffer(c))) {
            mapped = mapped &&
                     arch_device_give(c->vm, (gpa_t)c->config->gpa + device * SHARED_PAGE,
                                      (hpa_t)shared.image->base + shared_page(c->number, device));
        }
    }
    if (!mapped) {
        return "page tables for guests are used up";
    }
    return arch_device_route(shared.image->vm_irq + c->number, c->vm, c->config->guest_irq)
               ? NULL
               : "the interrupt of a VM's shared devices is taken";
}

/* Nothing is written to the hardware before all clients have been checked. */
static const char *set_clients(void)
{
    const void *table = (const char *)shared.image + shared.image->clients_offset;
    const struct shared_image_client *configs = table;
    const char *wrong = NULL;

    for (unsigned i = 0; i < shared.image->nclients && wrong == NULL; i++) {
        wrong = set_client(&shared.clients[i], i, &configs[i]);
    }
    for (unsigned i = 0; i < shared.image->nclients && wrong == NULL; i++) {
        wrong = connect(&shared.clients[i]);
    }
    return wrong;
}

static void set_rights(void)
{
    ulong vms = SHARED_FIELD(shared_read(FABRIC_SHARED_PARAMS), FABRIC_SHARED_PARAMS_VMS);

    for (unsigned i = 0; i < vms && i < SHARED_MAX_CLIENTS; i++) {
        shared_revoke(i);
    }
    shared_set_devices();
    for (unsigned i = 0; i < shared.image->nclients; i++) {
        shared_set_rights(&shared.clients[i]);
    }
}

static const char *set_up(const struct shared_image *image)
{
    const char *wrong = check_devices(image);

    shared.image = image;
    shared.registers = (volatile char *)(ulong)image->base;
    if (wrong == NULL) {
        wrong = arch_device_map((hpa_t)image->base, FABRIC_SHARED_SIZE) ? check_hardware(image)
                                                                        : "page tables are used up";
    }
    if (wrong == NULL) {
        wrong = set_clients();
    }
    if (wrong == NULL && !arch_device_interrupt(image->irq, shared_interrupt)) {
        wrong = "the interrupt of the shared devices is taken";
    }
    if (wrong == NULL) {
        set_rights();
        shared_manager_init();
    }
    return wrong;
}

const char *shared_boot(void)
{
    uint32_t size;
    const struct shared_image *image = sysimage_section(hyp.image, SHARED_IMAGE_TAG, &size);
    const char *wrong = image != NULL ? check_section(image, size) : NULL;

    return image != NULL && wrong == NULL ? set_up(image) : wrong;
}
