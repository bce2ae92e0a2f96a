/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells of shared memory, and the interrupt line of doorbells and messages. Owns the doorbells
 * that each VM has not taken; sched_lock guards them. */
#include "arch.h"
#include "calls.h"
#include "ipc.h"
#include "sched.h"

/* Of each VM, bit n: shared region n was rung. Owner: this file; guarded by sched_lock. */
static uint32_t doorbells[SYSIMAGE_MAX_VMS];

void ipc_forget_doorbells(struct vm *vm)
{
    doorbells[vm->id] = 0;
}

void ipc_update_line(struct vm *vm)
{
    const struct ipc_inbox *inbox = ipc_inbox_of(&vm->vcpus[0]);
    bool high;

    spin_lock(&vm->lock);
    spin_lock(&sched_lock); /* the VM may have stopped since the send: its next start must not see
                               this message's line */
    high = doorbells[vm->id] != 0 || (inbox->room != 0 && !ipc_empty(inbox));
    spin_unlock(&sched_lock);
    arch_vm_irq(vm, vm->config->message_irq, high);
    vm_unlock(vm);
}

static bool shares(const struct vm *vm, ulong id)
{
    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        if (r->kind == SYSIMAGE_REGION_SHARED && r->detail == id) {
            return true;
        }
    }
    return false;
}

struct hcall_ret ipc_ring(ulong id, ulong vm_id, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vm *self = cpu_self()->current->vm;
    struct vm *vm = ipc_vm(vm_id);

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (vm == NULL) {
        return ipc_error(IPC_ERR_NO_VCPU);
    }
    if (!shares(self, id) || !shares(vm, id)) {
        return ipc_error(HCALL_ERR_DENIED);
    }
    spin_lock(&sched_lock);
    if (vm->state != VM_RUNNING) {
        spin_unlock(&sched_lock);
        return ipc_error(IPC_ERR_NOT_RUNNING);
    }
    doorbells[vm->id] |= 1U << id;
    ipc_notify(&vm->vcpus[0]);
    return ipc_error(HCALL_OK);
}

struct hcall_ret ipc_doorbells(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vm *vm = cpu_self()->current->vm;
    ulong rung;

    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    spin_lock(&sched_lock);
    rung = doorbells[vm->id];
    doorbells[vm->id] = 0;
    spin_unlock(&sched_lock);
    if (ipc_inbox_of(&vm->vcpus[0])->by_line) {
        ipc_update_line(vm);
    }
    return (struct hcall_ret){HCALL_OK, rung};
}
