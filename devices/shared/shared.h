/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared devices (docs/hardware-io.md): the hardware serves VMs without a call to the
 * hypervisor. The component sets up what each VM may use, opens and closes the VMs' windows for
 * DMA, and reports what goes wrong. What the files of this folder share.
 *
 * It has no lock: configuration is written at boot; later each register that it writes has the
 * number of one VM, whose life one CPU drives at a time; the manager's interrupts are handled on
 * the boot CPU.
 */
#ifndef SHARED_H
#define SHARED_H

#include "arch_device.h"
#include "arch_types.h"
#include "fabric_map.h"
#include "resource.h"
#include "shared_image.h"
#include "system.h"
#include "timer.h"

#define SHARED_PAGE 0x1000U

/* A VM that uses shared devices. */
struct shared_client {
    /* Constant after boot, down to `number`. */
    struct vm *vm;
    const struct shared_image_client *config;
    unsigned number; /* of the VM in the hardware */
    bool stopping;   /* atomic: its requests are removed, until its next start */
};

struct shared_devices {
    const struct shared_image *image; /* NULL: the system uses no shared devices. Constant after
                                     boot, as are the next two */
    volatile char *registers;         /* the manager page */
    ulong pins;                       /* of the hardware */

    /* guarded by sched_lock: interrupts to the manager are disabled until it expires */
    struct timer report_holdoff;
    struct shared_client clients[SHARED_MAX_CLIENTS];
};

extern struct shared_devices shared; /* owner: state.c */

/* The VM's client, or NULL. */
static inline struct shared_client *shared_client_of(const struct vm *vm)
{
    return vm->vcpus[0].data[COMPONENT_SHARED];
}

/* --- registers; offsets from the manager page --- */

static inline uint64_t shared_read(ulong offset)
{
    return arch_device_read64(shared.registers + offset);
}

static inline void shared_write(ulong offset, uint64_t value)
{
    arch_device_write64(shared.registers + offset, value);
}

/* A field of a register's value. */
#define SHARED_FIELD(value, name) (((value) >> name##_LSB) & ((1UL << name##_WIDTH) - 1U))
#define SHARED_PUT(name, value) ((uint64_t)(value) << name##_LSB)

/* Page of a VM, by its number in the hardware, for a device. */
static inline ulong shared_page(unsigned number, unsigned device)
{
    return FABRIC_SHARED_PAGES - FABRIC_SHARED +
           (16UL * number + device) * FABRIC_SHARED_PAGE_STRIDE;
}

/* A VM's windows for DMA (fabric_windows.h). */
static inline volatile char *shared_windows(unsigned number)
{
    return shared.registers + (FABRIC_SHARED_WINDOWS - FABRIC_SHARED) +
           number * FABRIC_VM_WINDOWS_STRIDE;
}

/* Whether a set of devices, bit n: device n, has this one. */
static inline bool shared_has(uint32_t devices, unsigned device)
{
    return (devices >> device & 1U) != 0;
}

/* Bytes of a framebuffer's line, which the hardware wants to be a multiple of 8. */
static inline uint32_t shared_line_bytes(uint32_t pixels)
{
    return (4U * pixels + 7U) & ~7U;
}

/* Whether the VM's part of the screen shows a framebuffer from each start on, which the image
 * builder has chosen; then the VM has no page for the display. */
static inline bool shared_has_framebuffer(const struct shared_client *c)
{
    return shared_has(c->config->devices, SHARED_DISPLAY) && c->config->framebuffer != 0;
}

/* --- rights.c; at boot --- */

/* Takes all rights, requests and windows from VM `number` of the hardware, which may have them from
 * before the machine was started again. */
void shared_revoke(unsigned number);

/* Writes the arbiters, the timing of the flash and of the screen, and the UART's mode. */
void shared_set_devices(void);

/* Gives a client what the image says: devices, priorities, budgets, a window of the flash, an
 * address, a part of the screen, pins. Before, shared_revoke() for all VMs of the hardware. */
void shared_set_rights(const struct shared_client *c);

/* --- interrupt.c --- */

void shared_manager_init(void);
void shared_interrupt(void);

/* --- for component.c, which lists them --- */

const char *shared_boot(void);
void shared_vm_reset(struct vm *vm);
bool shared_vm_stop(struct vm *vm);
resource_bound_fn shared_bound;

/* As struct pci_shared_devices says. */
bool shared_pages(const struct vm *vm, uint64_t *pages);
bool shared_pending(const struct vm *vm);
void shared_mask(const struct vm *vm, bool masked);

#endif
