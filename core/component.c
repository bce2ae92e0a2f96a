/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

extern component_vm_stop_hook *const __start_vm_stop_hooks[], *const __stop_vm_stop_hooks[];
extern component_cpu_hook *const __start_cpu_sync_hooks[], *const __stop_cpu_sync_hooks[];

bool components_vm_stop(struct vm *vm)
{
    bool done = true;

    for (component_vm_stop_hook *const *hook = __start_vm_stop_hooks; hook < __stop_vm_stop_hooks;
         hook++) {
        done = (*hook)(vm) && done;
    }
    return done;
}

COMPONENT_DEFAULT enum write_fault component_write_fault(struct vcpu *v, gpa_t gpa, unsigned width,
                                                         ulong value)
{
    (void)v, (void)gpa, (void)width, (void)value;
    return WRITE_REFUSED;
}

void components_cpu_sync(void)
{
    for (component_cpu_hook *const *hook = __start_cpu_sync_hooks; hook < __stop_cpu_sync_hooks;
         hook++) {
        (*hook)();
    }
}
