/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PCI function for a shared region, as the "Device Specification for Inter-VM shared memory
 * device" with INTx has it: BAR 2 is the region, BAR 0 has a doorbell for each VM that shares it. A
 * guest's uio_pci_generic drives it.
 *
 * A VM that shares the region and has no function for it is rung by the component `ipc`, and rings
 * functions by its hypercall.
 */
#include "hypercall.h"
#include "ipc_abi.h"
#include "sched.h"
#include "virtio.h"

#define CLASS_RAM 0x050000U
#define IVSHMEM_ID 0x1110U
#define REGISTER_WIDTH_LOG2 2U

enum {
    INTERRUPT_MASK = 0,
    INTERRUPT_STATUS = 4, /* read and cleared */
    IV_POSITION = 8,      /* number of the VM */
    DOORBELL = 12,        /* VM number << 16 */
};

uint32_t ivshmem_read(struct virtio_device *dev, unsigned offset)
{
    switch (offset) {
    case INTERRUPT_MASK:
        return dev->mask;
    case INTERRUPT_STATUS:
        return virtio_take_isr(dev);
    case IV_POSITION:
        return dev->vm->id;
    default:
        return 0;
    }
}

/* HCALL_IPC_RING without functions: of the component `ipc`, or refused without it. Owner:
 * ivshmem_boot(). */
static hcall_fn ring_without_function;

/* The function of VM `number` for a shared region, or NULL. */
static struct virtio_device *function_for(ulong number, ulong region)
{
    struct virtio_bus *bus = number < hyp.nvms ? virtio_bus_of(&hyp.vms[number]) : NULL;

    for (unsigned i = 0; bus != NULL && i < bus->count; i++) {
        struct virtio_device *dev = &bus->devices[i];

        if (dev->config->kind == VIRTIO_IMAGE_IVSHMEM && dev->config->shared == region) {
            return dev;
        }
    }
    return NULL;
}

static bool runs(const struct vm *vm)
{
    bool running;

    spin_lock(&sched_lock);
    running = vm->state == VM_RUNNING;
    spin_unlock(&sched_lock);
    return running;
}

/* Rings VM `number`, if it shares the region of `dev`, whose VM runs on this CPU. */
static void ring(const struct virtio_device *dev, uint32_t number)
{
    struct virtio_device *to = function_for(number, dev->config->shared);

    if (to != NULL && !runs(to->vm)) {
        /* as by a hypercall; if the VM is started again at this moment, its new life may be rung */
        return;
    }
    if (to != NULL) {
        virtio_interrupt(to, VIRTIO_ISR_QUEUE);
    } else {
        (void)ring_without_function(dev->config->shared, number, 0, 0, 0, 0);
    }
}

static bool shares(const struct vm *vm, ulong region)
{
    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        if (r->kind == SYSIMAGE_REGION_SHARED && r->detail == region) {
            return true;
        }
    }
    return false;
}

/* HCALL_IPC_RING in a system with functions for shared regions. */
static struct hcall_ret ring_by_call(ulong region, ulong number, ulong a2, ulong a3, ulong a4,
                                     ulong a5)
{
    struct virtio_device *to = function_for(number, region);

    if (to == NULL) {
        return ring_without_function(region, number, a2, a3, a4, a5);
    }
    if (!shares(cpu_self()->current->vm, region)) {
        return (struct hcall_ret){HCALL_ERR_DENIED, 0};
    }
    if (!runs(to->vm)) {
        return (struct hcall_ret){IPC_ERR_NOT_RUNNING, 0};
    }
    virtio_interrupt(to, VIRTIO_ISR_QUEUE);
    return (struct hcall_ret){HCALL_OK, 0};
}

/* Takes the call's place in the table, so that a system without functions does not pay for them. */
static const char *ivshmem_boot(struct virtio_device *dev)
{
    (void)dev;
    if (hypercall_table[HCALL_IPC_RING] != ring_by_call) {
        ring_without_function = hypercall_table[HCALL_IPC_RING];
        hypercall_table[HCALL_IPC_RING] = ring_by_call;
    }
    return NULL;
}

/* The specification has 32-bit registers: the VM's number would be no part of a narrow store, which
 * does nothing. */
void ivshmem_write(struct virtio_device *dev, unsigned offset, unsigned width_log2, uint32_t value)
{
    if (width_log2 != REGISTER_WIDTH_LOG2) {
        return;
    }
    if (offset == DOORBELL) {
        ring(dev, value >> 16);
    } else if (offset == INTERRUPT_MASK) {
        dev->mask = value;
    }
}

VIRTIO_CLASS(ivshmem) = {
    .type = VIRTIO_IMAGE_IVSHMEM,
    .id = IVSHMEM_ID,
    .pci_class = CLASS_RAM,
    .boot = ivshmem_boot,
};
