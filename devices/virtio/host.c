/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the machine's own PCI bus, each passed through to one VM. The guest sees the
 * function at its slot of the virtual bus: identification and capabilities are the machine's,
 * without MSI (the VMs have no AIA) and all that the hypervisor does not know; BARs are at
 * addresses of the VM. The hypervisor assigns the machine's BARs at boot, each function's in a
 * window of its own, and no guest changes them. A guest writes the command register only.
 *
 * INTA of the function is a line of the machine's interrupt controller, passed through as that of
 * another device (arch_device.h).
 */
#include "arch_device.h"
#include "console.h"
#include "lib.h"
#include "pci_regs.h"
#include "virtio.h"

#define PAGE UINT64_C(0x1000)
#define CAPABILITIES 8U      /* most that a guest sees */
#define CAPABILITY_CHAIN 48U /* most in 256 bytes */
#define CAPABILITY_EXPRESS 0x10U
#define CONFIG_SIZE 0x100U

#define HEADER_TYPE(word) ((word) >> 16 & 0x7fU) /* of the word at 0x0c */
#define PIN(word) ((word) >> 8 & 0xffU)          /* of the word at 0x3c */
#define PIN_INTA 1U
#define BAR_IO 1U
#define BAR_TYPE 6U
#define BAR_FLAGS 15U

/* PCI Express Base Specification, section 7.5.3: offsets in the capability; function-level
 * reset. */
#define EXPRESS_CAPABILITIES 4U
#define EXPRESS_CONTROL 8U
#define EXPRESS_HAS_FLR (1U << 28)
#define EXPRESS_FLR (1U << 15)
#define FLR_US 100000U /* section 6.6.2: the function may be accessed then */

/* virtio 1.2, section 4.1.4: cfg_type of the common configuration; device_status. */
#define VIRTIO_COMMON 1U
#define VIRTIO_STATUS 20U

/* A capability that the guest sees, at its offset in the configuration space; bytes. */
struct visible {
    uint32_t at, length;
    uint32_t next; /* offset of the next one, 0: none */
};

/* A base address register. Constant after boot. */
struct bar {
    uint32_t machine; /* the address that the machine's register gets; its flags are read-only */
    uint32_t guest;   /* what the guest reads */
    uint32_t probed;  /* what it reads after a write of all ones */
};

static struct host_function {
    volatile char *config; /* its configuration space, at its host-physical address */
    struct bar bars[PCI_BARS];
    struct visible visible[CAPABILITIES];
    unsigned nvisible;
    unsigned express;      /* offset of the capability, if the function can reset itself, else 0 */
    volatile char *status; /* device_status of a virtio device, or NULL */
    /* The rest is guarded by vm->lock while the VM runs. */
    uint32_t command; /* as the guest has written it */
    bool stopping;
    ticks_t stopped; /* when its reset has ended */
    /* owner: this file; constant after boot, but for the last fields */
} functions[VIRTIO_MAX_HOST_FUNCTIONS];

static uint32_t config_read(const struct host_function *f, unsigned offset)
{
    return arch_device_read32(f->config + offset);
}

/* Memory is always decoded, so that no access of the guest ends in a bus error. Status bits are
 * cleared by ones, so they stay. */
static void command_write(const struct host_function *f, uint32_t command)
{
    arch_device_write32(f->config + PCI_COMMAND, command | COMMAND_MEMORY);
}

/* --- the end of DMA --- */

static void restore_bars(const struct host_function *f)
{
    for (unsigned i = 0; i < PCI_BARS; i++) {
        arch_device_write32(f->config + PCI_BAR0 + 4U * i, f->bars[i].machine);
    }
}

/* Ends DMA and interrupts, and begins the function's reset. */
static void begin_reset(struct host_function *f)
{
    command_write(f, COMMAND_INTX_DISABLE);
    if (f->status != NULL) {
        arch_device_write8(f->status, 0);
    } else if (f->express != 0) {
        unsigned control = f->express + EXPRESS_CONTROL;

        arch_device_write32(f->config + control, (config_read(f, control) & 0xffffU) | EXPRESS_FLR);
    }
    f->stopped = arch_time() + (ticks_t)FLR_US * hyp.us;
}

/* A virtio device that does not answer is given up after the same time. */
static bool is_reset(const struct host_function *f)
{
    bool done = f->status != NULL ? arch_device_read8(f->status) == 0 : f->express == 0;

    return done || arch_time() >= f->stopped;
}

static bool host_stop(struct virtio_device *dev)
{
    struct host_function *f = dev->data;

    if (!f->stopping) {
        f->stopping = true;
        begin_reset(f);
    }
    if (!is_reset(f)) {
        return false;
    }
    restore_bars(f);
    f->command = 0;
    command_write(f, 0);
    f->stopping = false;
    return true;
}

/* --- what the guest sees --- */

static void host_command(struct virtio_device *dev, uint32_t value)
{
    struct host_function *f = dev->data;

    f->command = value;
    command_write(f, value);
}

static uint32_t visible_read(const struct host_function *f, unsigned offset)
{
    for (unsigned i = 0; i < f->nvisible; i++) {
        const struct visible *c = &f->visible[i];

        if (offset == c->at) {
            return (config_read(f, offset) & 0xffff00ffU) | c->next << 8;
        }
        if (offset - c->at < c->length) {
            return config_read(f, offset);
        }
    }
    return 0;
}

static uint32_t status_and_command(const struct host_function *f)
{
    uint32_t status = config_read(f, PCI_COMMAND) & ~(0xffffU | STATUS_CAPABILITIES);

    return status | f->command | (f->nvisible != 0 ? STATUS_CAPABILITIES : 0);
}

static uint32_t host_config(const struct virtio_device *dev, unsigned offset)
{
    const struct host_function *f = dev->data;
    unsigned number = (offset - PCI_BAR0) / 4U;

    if (number < PCI_BARS) {
        return (dev->probing >> number & 1U) != 0 ? f->bars[number].probed : f->bars[number].guest;
    }
    switch (offset) {
    case PCI_ID:
    case PCI_CLASS:
    case PCI_SUBSYSTEM:
        return config_read(f, offset);
    case PCI_COMMAND:
        return status_and_command(f);
    case PCI_CAPABILITIES:
        return f->nvisible != 0 ? f->visible[0].at : 0;
    case PCI_INTERRUPT:
        return PIN_INTA << 8;
    default:
        return visible_read(f, offset);
    }
}

/* --- capabilities, at boot --- */

static bool is_visible(const struct host_function *f, unsigned at)
{
    bool found = false;

    for (unsigned i = 0; i < f->nvisible; i++) {
        found = found || f->visible[i].at == at;
    }
    return found;
}

/* Vendors' capabilities are shown: those of virtio say where the registers are. Each once, also if
 * the chain is a loop. */
static void show(struct host_function *f, unsigned at, uint32_t length)
{
    if (f->nvisible < CAPABILITIES && length >= 4U && length <= CONFIG_SIZE - at &&
        !is_visible(f, at)) {
        if (f->nvisible > 0) {
            f->visible[f->nvisible - 1U].next = at;
        }
        f->visible[f->nvisible++] = (struct visible){.at = at, .length = length};
    }
}

/* Whether this vendor's capability is the common configuration of a virtio device. */
static bool is_common(const struct host_function *f, uint32_t head)
{
    return (config_read(f, PCI_ID) & 0xffffU) == VENDOR && head >> 24 == VIRTIO_COMMON;
}

/* Returns the offset of the capability with the common configuration of a virtio device, or 0. */
static unsigned find_capabilities(struct host_function *f)
{
    bool any = (config_read(f, PCI_COMMAND) & STATUS_CAPABILITIES) != 0;
    unsigned at = any ? config_read(f, PCI_CAPABILITIES) & 0xfcU : 0, common = 0;

    for (unsigned n = 0; at >= PCI_CAPABILITY && n < CAPABILITY_CHAIN; n++) {
        uint32_t head = config_read(f, at);

        if ((head & 0xffU) == CAPABILITY_VENDOR) {
            show(f, at, head >> 16 & 0xffU);
            common = is_common(f, head) ? at : common;
        } else if ((head & 0xffU) == CAPABILITY_EXPRESS) {
            f->express =
                (config_read(f, at + EXPRESS_CAPABILITIES) & EXPRESS_HAS_FLR) != 0 ? at : 0;
        }
        at = head >> 8 & 0xfcU;
    }
    return common;
}

/* --- BARs, at boot --- */

/* The bytes of BAR `number`, a power of two; 0 if there is none, or it is one of I/O, which guests
 * do not get. */
static uint64_t bar_size(const struct host_function *f, unsigned number, bool wide)
{
    volatile char *bar = f->config + PCI_BAR0 + 4U * number;
    uint64_t bits;

    arch_device_write32(bar, ALL_ONES);
    bits = arch_device_read32(bar) & ~BAR_FLAGS;
    if (wide) {
        arch_device_write32(bar + 4, ALL_ONES);
        bits |= (uint64_t)arch_device_read32(bar + 4) << 32;
    }
    return bits & (0U - bits);
}

static bool map_bar(struct vm *vm, gpa_t gpa, hpa_t hpa, uint64_t size)
{
    bool mapped = true;

    for (uint64_t at = 0; at < size && mapped; at += PAGE) {
        mapped = arch_device_give(vm, gpa + at, hpa + at);
    }
    return mapped;
}

static void set_bar(struct bar *bars, unsigned number, bool wide, uint32_t flags,
                    const uint64_t values[3])
{
    bars[number] =
        (struct bar){(uint32_t)values[0], (uint32_t)values[1] | flags, (uint32_t)values[2] | flags};
    if (wide) {
        bars[number + 1U] = (struct bar){(uint32_t)(values[0] >> 32), (uint32_t)(values[1] >> 32),
                                         (uint32_t)(values[2] >> 32)};
    }
}

/* Places BAR `number` at the next free offset of the window. */
static const char *place_bar(const struct virtio_device *dev, unsigned number, uint32_t flags,
                             uint64_t *free)
{
    struct host_function *f = dev->data;
    bool wide = (flags & BAR_TYPE) == BAR_64BIT && number + 1U < PCI_BARS;
    uint64_t size = (flags & BAR_IO) == 0 ? bar_size(f, number, wide) : 0,
             span = size < PAGE ? PAGE : size;
    uint64_t at = (*free + span - 1U) & ~(span - 1U);
    gpa_t gpa = VIRTIO_HOST_BARS + dev->config->slot * VIRTIO_HOST_WINDOW + (gpa_t)at;
    hpa_t hpa = (hpa_t)dev->config->window + (hpa_t)at;

    if (size == 0) {
        return NULL;
    }
    if (at > VIRTIO_HOST_WINDOW || span > VIRTIO_HOST_WINDOW - at) {
        return "the BARs of this PCI function take more than 2 MiB";
    }
    *free = at + span;
    set_bar(f->bars, number, wide, flags, (const uint64_t[]){hpa, gpa, ~(size - 1U)});
    return map_bar(dev->vm, gpa, hpa, span) ? NULL : "page tables are used up";
}

static const char *place_bars(const struct virtio_device *dev)
{
    const struct host_function *f = dev->data;
    uint64_t free = 0;
    const char *wrong = NULL;

    for (unsigned i = 0; i < PCI_BARS && wrong == NULL; i++) {
        uint32_t value = config_read(f, PCI_BAR0 + 4U * i),
                 flags = (value & BAR_IO) != 0 ? BAR_IO : value & BAR_FLAGS;

        wrong = place_bar(dev, i, flags, &free);
        i += (flags & (BAR_TYPE | BAR_IO)) == BAR_64BIT ? 1U : 0;
    }
    restore_bars(f);
    return wrong;
}

/* The device status of a virtio device, by which it is reset. False if page tables are used up. */
static bool map_status(struct host_function *f, unsigned common)
{
    unsigned number = config_read(f, common + 4U) & 0xffU;
    uint64_t at = (uint64_t)config_read(f, common + 8U) + VIRTIO_STATUS;
    uint64_t base = number < PCI_BARS ? f->bars[number].machine : 0;
    bool mapped;

    if (base == 0 || at > (uint32_t)~(f->bars[number].probed & ~BAR_FLAGS)) {
        return true;
    }
    mapped = arch_device_map((hpa_t)((base + at) & ~(PAGE - 1U)), PAGE);
    f->status = mapped ? (volatile char *)(ulong)(base + at) : NULL;
    return mapped;
}

/* --- boot --- */

static bool outside_ram(uint64_t base, uint64_t size, uint64_t align)
{
    return base % align == 0 && base < UINT32_MAX &&
           !memmap_overlap(base, size, hyp.image->ram_base, hyp.image->ram_size);
}

static const char *find_function(struct host_function *f,
                                 const struct virtio_image_function *config)
{
    uint64_t id;

    if (!outside_ram(config->config, PAGE, PAGE) ||
        !outside_ram(config->window, VIRTIO_HOST_WINDOW, VIRTIO_HOST_WINDOW)) {
        return "the image has wrong addresses for this PCI function";
    }
    if (!arch_device_map((hpa_t)config->config, PAGE)) {
        return "page tables are used up";
    }
    if (!arch_device_probe((hpa_t)config->config, &id) || (id & 0xffffU) == 0xffffU) {
        return "the machine does not have this PCI function";
    }
    f->config = (volatile char *)(ulong)config->config;
    if (HEADER_TYPE(config_read(f, PCI_HEADER)) != 0 ||
        PIN(config_read(f, PCI_INTERRUPT)) != PIN_INTA) {
        return "this PCI function is a bridge, or has no interrupt INTA";
    }
    return NULL;
}

static const char *take_function(struct virtio_device *dev, struct host_function *f)
{
    const char *wrong = find_function(f, dev->config);
    unsigned common;

    if (wrong != NULL) {
        return wrong;
    }
    arch_device_write32(f->config + PCI_COMMAND, COMMAND_INTX_DISABLE); /* BARs have no effect */
    common = find_capabilities(f);
    wrong = place_bars(dev);
    if (wrong != NULL) {
        return wrong;
    }
    if (common != 0 && !map_status(f, common)) {
        return "page tables are used up";
    }
    return arch_device_route(dev->config->irq, dev->vm, VIRTIO_IRQ + dev->config->slot)
               ? NULL
               : "the interrupt of this PCI function has another owner, or does not exist";
}

static const char *host_boot(struct virtio_device *dev)
{
    unsigned number = virtio_count_before(dev);
    struct host_function *f = &functions[number];
    const char *wrong;

    if (number >= VIRTIO_MAX_HOST_FUNCTIONS) {
        return "the image has too many PCI functions of the machine";
    }
    memset(f, 0, sizeof(*f));
    dev->data = f;
    wrong = take_function(dev, f);
    if (wrong != NULL) {
        console_log("PCI function 00:%02x.0 of the machine, for VM %s:",
                    (unsigned)(dev->config->config >> 15 & 31U), dev->vm->config->name);
        return wrong;
    }
    if (f->status != NULL) {
        command_write(f, COMMAND_INTX_DISABLE);
        arch_device_write8(f->status, 0);
    }
    command_write(f, 0);
    return NULL;
}

VIRTIO_CLASS(host) = {
    .type = VIRTIO_IMAGE_HOST,
    .boot = host_boot,
    .command = host_command,
    .config_space = host_config,
    .stop = host_stop,
};
