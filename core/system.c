/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the VMs and VCPUs of the checked system image, initializes the components and starts the
 * VMs. Owns `hyp`, the root of all state, whose image and counts are constant after boot. */
#include "system.h"

#include "arch.h"
#include "component.h"
#include "console.h"
#include "hypercall.h"
#include "sched.h"
#include "trace.h"

struct system hyp;

const char *system_init(const struct sysimage_header *image)
{
    const struct sysimage_vm *vms = sysimage_at(image, image->vms_offset);
    const char *wrong = hypercall_init();
    unsigned vcpus = 0;

    hyp.image = image;
    hyp.ncpus = image->nharts;
    hyp.us = image->timebase_hz / 1000000U;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        cpu->id = i;
        cpu->armed = TICKS_NEVER;
        cpu->slice_end = 0; /* not TICKS_NEVER: CPUs that do not run yet must not be kicked */
        timers_init(&cpu->timers, i);
        trace_init(cpu);
    }
    /* nvms grows with the VMs: console lines about an error use all VMs below it. */
    for (hyp.nvms = 0; hyp.nvms < image->nvms && wrong == NULL; hyp.nvms++) {
        wrong = vm_init(&hyp.vms[hyp.nvms], hyp.nvms, &vms[hyp.nvms], &hyp.vcpus[vcpus]);
        vcpus += hyp.vms[hyp.nvms].total;
    }
    if (wrong == NULL) {
        wrong = components_boot();
    }
    sched_init((uint32_t)(image->quantum_us * hyp.us),
               vm_vcpu_turned_off); /* at most 1 s of at most 4294 ticks per us */
    console_init();
    return wrong != NULL ? wrong : timers_boot();
}

void system_start(void)
{
    uint64_t start = arch_instret();

    for (unsigned i = 0; i < hyp.nvms; i++) {
        vm_clear_shared(&hyp.vms[i]);
    }
    hyp.load_cost += arch_instret() - start;
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if ((hyp.vms[i].config->flags & SYSIMAGE_VM_AUTOSTART) != 0) {
            vm_start(&hyp.vms[i]);
        }
    }
}

struct vm *system_keyboard(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if ((hyp.vms[i].config->flags & SYSIMAGE_VM_FOCUS) != 0) {
            return &hyp.vms[i];
        }
    }
    return &hyp.vms[0];
}
