/* SPDX-License-Identifier: Apache-2.0 */
#include "world_ipc.h"

#include "arch.h"
#include "host.h"
#include "ipc.h"

/* Two regions a VM need more room than the image that world.c makes has: they stand in its unused fixups. */
void world_image_share(struct world_image *image, unsigned i)
{
    struct sysimage_region *regions = (struct sysimage_region *)(void *)&image->fixups[2U * i];

    regions[0] = image->regions[i];
    regions[1] = (struct sysimage_region){.gpa = WORLD_SHARED_GPA,
                                          .hpa = HOST_RAM_BASE + SYSIMAGE_MAX_VMS * WORLD_VM_RAM,
                                          .size = WORLD_SHARED_SIZE,
                                          .kind = SYSIMAGE_REGION_SHARED,
                                          .detail = 0};
    image->vms[i].nregions = 2;
    image->vms[i].regions_offset = (uint32_t)((char *)regions - (char *)image);
}

bool world_ipc_boot(unsigned nvms, unsigned vcpus, const uint32_t *send_to, const uint32_t *message_irq,
                    uint32_t sharers)
{
    unsigned counts[SYSIMAGE_MAX_HARTS] = {0};
    struct world_image *image;

    for (unsigned i = 0; i < nvms; i++) {
        counts[i] = vcpus;
    }
    image = world_image_make(nvms, nvms, counts, 1000);
    for (unsigned i = 0; i < nvms; i++) {
        image->vms[i].send_to = send_to[i];
        image->vms[i].message_irq = message_irq[i];
        if ((sharers & 1U << i) != 0) {
            world_image_share(image, i);
        }
    }
    world_image_seal(image);
    if (!world_boot_image(image)) {
        return false;
    }
    for (unsigned i = 0; i < nvms; i++) {
        world_vm_start(i, i);
    }
    return world_settle();
}

/* The CPU on which VCPU 0 of the VM is, which it gets if it sleeps. */
static struct cpu *cpu_of(unsigned vm)
{
    struct vcpu *v = &hyp.vms[vm].vcpus[0];

    if (v->state == VCPU_BLOCKED) {
        vcpu_raise(v, 0);
        world_settle();
    }
    return v->state == VCPU_RUNNING ? v->cpu : NULL;
}

long world_call(unsigned vm, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value)
{
    const struct cpu *cpu = cpu_of(vm);

    return cpu == NULL ? WORLD_NO_CALLER : world_hypercall((unsigned)cpu->id, number, a0, a1, a2, value);
}

uint32_t world_lines(unsigned vm)
{
    return hyp.vms[vm].arch.lines;
}

/* --- a sender on another CPU, between its message and the line that tells of it --- */

static struct vm *receiver; /* of the sender that is late */

static void raise_late(void)
{
    if (receiver->state == VM_LOADING && receiver->stage > 0) {
        host_on_poll = NULL;
        ipc_raise_line(receiver);
    }
}

void world_late_sender(unsigned vm)
{
    receiver = &hyp.vms[vm];
    host_on_poll = raise_late;
}
