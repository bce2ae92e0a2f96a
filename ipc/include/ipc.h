/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of ipc share: inboxes, and the notification of VMs. messages.c owns the inboxes,
 * shared.c the doorbells. */
#ifndef IPC_H
#define IPC_H

#include "arch.h"
#include "atomic.h"
#include "hypercall.h"
#include "ipc_abi.h"
#include "sched.h"
#include "system.h"

/* Messages that wait for a VCPU: from number `first` on, each in place number % IPC_QUEUE. Empty
 * whenever the VCPU starts. */
struct ipc_inbox {
    unsigned first; /* atomic: written by the CPU that runs the VCPU */
    unsigned next;  /* atomic: number of the next message; guarded by sched_lock */
    unsigned room;  /* IPC_QUEUE, 0 while the VCPU is off; guarded by sched_lock */
    /* constant: messages raise a line of the VM's interrupt controller, not the VCPU's software
     * interrupt */
    bool by_line;
    ulong sender; /* constant: the VCPU, as the head of a message that it sends names it */
    /* Guarded by sched_lock until `next` has passed them, then read by the VCPU's CPU. */
    ulong head[IPC_QUEUE]; /* size and sender, as HCALL_IPC_RECV_MSG returns them */
    uint64_t message[IPC_QUEUE][IPC_MESSAGE_MAX / sizeof(uint64_t)];
};

static inline struct ipc_inbox *ipc_inbox_of(const struct vcpu *v)
{
    return v->data[COMPONENT_IPC];
}

/* A result without a value. */
static inline struct hcall_ret ipc_error(long error)
{
    return (struct hcall_ret){error, 0};
}

/* VM number `id`, or NULL. */
static inline struct vm *ipc_vm(ulong id)
{
    return id < hyp.nvms ? &hyp.vms[id] : NULL;
}

/* Whether the inbox is empty. Acquire: a message that is seen is complete. */
static inline bool ipc_empty(const struct ipc_inbox *inbox)
{
    return atomic_load_acquire(&inbox->next) == atomic_load_relaxed(&inbox->first);
}

/* Sets the line of the VM's interrupt controller to whether a message or doorbell is pending for
 * VCPU 0. Called without locks after the inbox or a doorbell has changed; of two concurrent
 * callers, the one that gets the VM's lock last sees both changes. */
void ipc_update_line(struct vm *vm);

/* A message or doorbell is pending for `v`. The caller holds sched_lock, which this function
 * releases. An interrupt that is pending already, and not yet injected, needs no other wake-up. */
static inline void ipc_notify(struct vcpu *v)
{
    if (ipc_inbox_of(v)->by_line) {
        spin_unlock(&sched_lock);
        ipc_update_line(v->vm);
        return;
    }
    /* frequent case of vcpu_raise_locked(), inline */
    if (v->state == VCPU_READY) {
        atomic_or_release(&v->pending, ARCH_VIRQ_MESSAGE);
    } else if ((atomic_load_relaxed(&v->pending) & ARCH_VIRQ_MESSAGE) == 0) {
        vcpu_raise_locked(v, ARCH_VIRQ_MESSAGE);
    }
    spin_unlock(&sched_lock);
}

#endif
