/* SPDX-License-Identifier: Apache-2.0 */
/* Boots systems whose VMs send messages and share memory, and makes their hypercalls
 * (testbed_ipc.h). Owns the receiver of the delayed sender. */
#include "testbed_ipc.h"

#include "arch.h"
#include "host.h"
#include "ipc.h"

/* The image of testbed.c has one region per VM, so two regions are placed in its unused fixups. */
void testbed_image_share(struct testbed_image *image, unsigned i)
{
    struct sysimage_region *regions = (struct sysimage_region *)(void *)&image->fixups[2U * i];

    regions[0] = image->regions[i];
    regions[1] = (struct sysimage_region){.gpa = TESTBED_SHARED_GPA,
                                          .hpa = HOST_RAM_BASE + SYSIMAGE_MAX_VMS * TESTBED_VM_RAM,
                                          .size = TESTBED_SHARED_SIZE,
                                          .kind = SYSIMAGE_REGION_SHARED,
                                          .detail = 0};
    image->vms[i].nregions = 2;
    image->vms[i].regions_offset = (uint32_t)((char *)regions - (char *)image);
}

bool testbed_ipc_boot(unsigned nvms, unsigned vcpus, const uint32_t *send_to,
                      const uint32_t *message_irq, uint32_t sharers)
{
    unsigned counts[SYSIMAGE_MAX_HARTS] = {0};
    struct testbed_image *image;

    for (unsigned i = 0; i < nvms; i++) {
        counts[i] = vcpus;
    }
    image = testbed_image_make(nvms, nvms, counts, 1000);
    for (unsigned i = 0; i < nvms; i++) {
        image->vms[i].send_to = send_to[i];
        image->vms[i].message_irq = message_irq[i];
        if ((sharers & 1U << i) != 0) {
            testbed_image_share(image, i);
        }
    }
    testbed_image_seal(image);
    if (!testbed_boot_image(image)) {
        return false;
    }
    for (unsigned i = 0; i < nvms; i++) {
        testbed_vm_start(i, i);
    }
    return testbed_run_until_idle();
}

/* The CPU of the VM's VCPU 0, which is woken if it is blocked. */
static struct cpu *cpu_of(unsigned vm)
{
    struct vcpu *v = &hyp.vms[vm].vcpus[0];

    if (v->state == VCPU_BLOCKED) {
        vcpu_raise(v, 0);
        testbed_run_until_idle();
    }
    return v->state == VCPU_RUNNING ? v->cpu : NULL;
}

long testbed_call(unsigned vm, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value)
{
    const struct cpu *cpu = cpu_of(vm);

    return cpu == NULL ? TESTBED_NO_CALLER
                       : testbed_hypercall((unsigned)cpu->id, number, a0, a1, a2, value);
}

uint32_t testbed_lines(unsigned vm)
{
    return hyp.vms[vm].arch.lines;
}

/* --- a sender on another CPU, between queuing its message and raising the interrupt line --- */

static struct vm *receiver; /* of the delayed sender */

static void raise_late(void)
{
    if (receiver->state == VM_LOADING && receiver->stage > 0) {
        host_on_poll = NULL;
        ipc_update_line(receiver);
        receiver = NULL;
    }
}

void testbed_late_sender(unsigned vm)
{
    receiver = &hyp.vms[vm];
    host_on_poll = raise_late;
}

bool testbed_late_sender_came(void)
{
    return receiver == NULL;
}
