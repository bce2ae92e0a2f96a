/* SPDX-License-Identifier: Apache-2.0 */
/* How the files of ipc find VMs and tell them that something waits. */
#ifndef IPC_H
#define IPC_H

#include "arch.h"
#include "atomic.h"
#include "hypercall.h"
#include "ipc_abi.h"
#include "sched.h"
#include "system.h"

/* An answer without a value. */
static inline struct hcall_ret ipc_error(long error)
{
    return (struct hcall_ret){error, 0};
}

/* VM number `id`, or NULL. */
static inline struct vm *ipc_vm(ulong id)
{
    return id < hyp.nvms ? &hyp.vms[id] : NULL;
}

/* Whether nothing waits. Who finds that something does, finds it whole. */
static inline bool ipc_empty(const struct inbox *inbox)
{
    return atomic_load_acquire(&inbox->next) == atomic_load_relaxed(&inbox->first);
}

/* Sets the line of the VM's interrupt controller to whether something waits for VCPU 0. Called with no lock held, after
 * that has changed; of two callers at the same time, the one that gets the VM's lock later sees both changes. */
void ipc_raise_line(struct vm *vm);

/* Something waits for `v`. Takes over sched_lock, and lets go of it. Who finds the interrupt raised already, and not yet
 * seen by v's CPU, need not wake it again. */
static inline void ipc_notify(struct vcpu *v)
{
    if (UNLIKELY(v->inbox.by_line)) {
        spin_unlock(&sched_lock);
        ipc_raise_line(v->vm);
        return;
    }
    if (LIKELY(v->state == VCPU_READY)) { /* the frequent case, worth no call: what vcpu_raise_locked() does then */
        atomic_or_release(&v->pending, ARCH_VIRQ_MESSAGE);
    } else if ((atomic_load_relaxed(&v->pending) & ARCH_VIRQ_MESSAGE) == 0) {
        vcpu_raise_locked(v, ARCH_VIRQ_MESSAGE);
    }
    spin_unlock(&sched_lock);
}

#endif
