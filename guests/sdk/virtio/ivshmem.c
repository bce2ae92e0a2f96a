/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of shared memory with doorbells (ivshmem.h). The caller owns struct ivshmem. */
#include "ivshmem.h"

#include "plic.h"
#include "virtio_fence.h"

#define VENDOR 0x1af4U
#define DEVICE 0x1110U
#define BAR_REGISTERS 0U
#define BAR_MEMORY 2U
#define REGISTER_BYTES 16U

enum ivshmem_register {
    INTERRUPT_MASK = 0,
    INTERRUPT_STATUS = 4,
    POSITION = 8,
    DOORBELL = 12,
};

static volatile uint32_t *reg(const struct ivshmem *shared, enum ivshmem_register offset)
{
    return (volatile uint32_t *)(shared->registers + offset);
}

bool ivshmem_open(struct ivshmem *shared, struct pci_bus *bus, unsigned int number)
{
    size_t bytes = 0;

    if (!pci_find(bus, VENDOR, DEVICE, number, &shared->function)) {
        return false;
    }
    shared->registers = pci_bar(&shared->function, BAR_REGISTERS, &bytes);
    shared->memory = (void *)pci_bar(&shared->function, BAR_MEMORY, &shared->bytes);
    if (shared->registers == 0 || bytes < REGISTER_BYTES || shared->memory == NULL) {
        return false;
    }
    pci_enable(&shared->function);
    *reg(shared, INTERRUPT_MASK) = 1;
    return true;
}

uint32_t ivshmem_own(const struct ivshmem *shared)
{
    return *reg(shared, POSITION);
}

void ivshmem_ring(const struct ivshmem *shared, uint16_t vm)
{
    virtio_fence(); /* the memory before the doorbell */
    *reg(shared, DOORBELL) = (uint32_t)vm << 16;
}

bool ivshmem_rung(const struct ivshmem *shared)
{
    bool rung = *reg(shared, INTERRUPT_STATUS) != 0;

    virtio_fence(); /* the doorbell before the memory */
    return rung;
}

struct wait {
    const struct ivshmem *shared;
    bool rung;
};

static void lower(void *argument)
{
    struct wait *wait = argument;

    wait->rung = ivshmem_rung(wait->shared);
}

void ivshmem_wait(const struct ivshmem *shared, unsigned long hart)
{
    struct wait wait = {shared, ivshmem_rung(shared)};

    while (!wait.rung) {
        plic_wait(shared->function.irq, hart, lower, &wait);
    }
}
