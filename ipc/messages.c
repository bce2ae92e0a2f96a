/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from VCPU to VCPU: copied into the receiver's inbox, and from there to the receiver's
 * buffer. Senders are serialized by sched_lock, which they need anyway to wake the receiver; the
 * receiver is the only consumer of its inbox and takes no lock. Storing `next` with release
 * publishes a whole message; messages of one sender stay in order.
 */
#include "arch.h"
#include "atomic.h"
#include "calls.h"
#include "guestmem.h"
#include "ipc.h"
#include "lib.h"
#include "sched.h"
#include "system.h"
#include "trace.h"

/* owner: this file; each guarded as its fields say */
static struct ipc_inbox inboxes[SYSIMAGE_MAX_VCPUS];

#define SIZE_OF(head) ((head) & 0xffffU)

/* Puts a message into v's inbox, in whole words; the receiver copies its size only. */
static struct hcall_ret post(struct vcpu *v, const uint64_t *src, ulong head, ulong size)
{
    struct ipc_inbox *inbox = ipc_inbox_of(v);
    uint64_t *dst;
    unsigned next;

    spin_lock(&sched_lock);
    next = inbox->next;
    /* Relaxed: stores to the slot are control-dependent on the branch that finds it free. */
    if (next - atomic_load_relaxed(&inbox->first) >= inbox->room) {
        bool off = inbox->room == 0;

        spin_unlock(&sched_lock);
        return ipc_error(off ? IPC_ERR_NOT_RUNNING : IPC_ERR_NOT_NOW);
    }
    inbox->head[next % IPC_QUEUE] = head;
    dst = inbox->message[next % IPC_QUEUE];
    copy_few_words(dst, src, (size + 7U) / 8U);
    arch_store_release((int32_t *)&inbox->next, (int32_t)(inbox->next + 1U));
    ipc_notify(v); /* releases sched_lock */
    return ipc_error(HCALL_OK);
}

/* From a buffer that is unaligned, not in the VM's first region, or no memory of the VM. */
static struct hcall_ret post_from(struct vcpu *v, gpa_t gpa, ulong head, ulong size)
{
    uint64_t copy[IPC_MESSAGE_MAX / sizeof(uint64_t)];

    return guestmem_read(cpu_self()->current->vm, gpa, copy, size)
               ? post(v, copy, head, size)
               : ipc_error(HCALL_ERR_INVALID_ADDRESS);
}

struct hcall_ret ipc_send_msg(ulong to, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    const struct vcpu *self = cpu_self()->current;
    ulong id = to & 0xffffU;
    const uint64_t *src;
    struct vm *vm;

    (void)a3, (void)a4, (void)a5;
    /* the image names existing VMs only */
    if (id >= SYSIMAGE_MAX_VMS || (self->vm->config->send_to >> id & 1U) == 0) {
        return ipc_error(id < hyp.nvms ? HCALL_ERR_DENIED : IPC_ERR_NO_VCPU);
    }
    vm = &hyp.vms[id];
    if (to >> 16 >= vm->total) {
        return ipc_error(IPC_ERR_NO_VCPU);
    }
    if (size - 1U >= IPC_MESSAGE_MAX) {
        return ipc_error(IPC_ERR_SIZE);
    }
    src = guestmem_at(self->vm, gpa, size);
    if (src == NULL) {
        return post_from(&vm->vcpus[to >> 16], gpa, size | ipc_inbox_of(self)->sender, size);
    }
    return post(&vm->vcpus[to >> 16], src, size | ipc_inbox_of(self)->sender, size);
}

/* Send and wait in one call: the receiver runs without a return to the sender in between. */
struct hcall_ret ipc_send_wait(ulong to, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct hcall_ret ret = ipc_send_msg(to, gpa, size, a3, a4, a5);

    if (ret.error == HCALL_OK) {
        vcpu_wait(cpu_self()->current);
    }
    return ret;
}

void ipc_trace_send(const struct vcpu *caller, ulong to, ulong value)
{
    (void)value;
    trace(TRACE_SEND, caller, to);
}

void ipc_trace_receive(const struct vcpu *caller, ulong gpa, ulong head)
{
    (void)gpa;
    trace(TRACE_RECEIVE, caller, head);
}

/* The message is in the receiver's memory: frees its slot. */
static inline struct hcall_ret taken(struct vcpu *v, struct ipc_inbox *inbox, ulong head)
{
    arch_store_release((int32_t *)&inbox->first, (int32_t)(inbox->first + 1U));
    if (inbox->by_line) {
        ipc_update_line(v->vm);
    }
    return (struct hcall_ret){HCALL_OK, head};
}

static struct hcall_ret take_to(struct vcpu *v, gpa_t gpa, const uint64_t *src, ulong head)
{
    if (!guestmem_write(v->vm, gpa, src, SIZE_OF(head))) {
        return (struct hcall_ret){HCALL_ERR_INVALID_ADDRESS, head};
    }
    return taken(v, ipc_inbox_of(v), head);
}

/* The inbox is empty. The line may still be high for a message that was discarded when VCPU 0 was
 * turned off and on again. */
static struct hcall_ret nothing(const struct vcpu *self)
{
    if (ipc_inbox_of(self)->by_line) {
        ipc_update_line(self->vm);
    }
    return ipc_error(IPC_ERR_NOT_NOW);
}

/* A message that cannot be delivered stays in the inbox. */
struct hcall_ret ipc_recv_msg(ulong gpa, ulong room, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vcpu *self = cpu_self()->current;
    struct ipc_inbox *inbox = ipc_inbox_of(self);
    unsigned n = inbox->first % IPC_QUEUE;
    const uint64_t *src = inbox->message[n];
    ulong head, size;
    uint64_t *dst;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (ipc_empty(inbox)) {
        return nothing(self);
    }
    head = inbox->head[n];
    size = SIZE_OF(head);
    if (size > room) {
        return (struct hcall_ret){IPC_ERR_SIZE, head};
    }
    dst = guestmem_at(self->vm, gpa, size);
    if (dst == NULL || size % 4U != 0 || size < 8U) {
        return take_to(self, gpa, src, head);
    }
    if (size % 8U != 0) { /* the last four bytes */
        *(uint32_t *)&dst[size / 8U] = (uint32_t)src[size / 8U];
    }
    copy_few_words(dst, src, size / 8U);
    return taken(self, inbox, head);
}

/* --- the life of an inbox --- */

const char *ipc_boot(void)
{
    struct ipc_inbox *inbox = inboxes;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        struct vm *vm = &hyp.vms[i];

        for (unsigned n = 0; n < vm->total; n++, inbox++) {
            *inbox = (struct ipc_inbox){
                .by_line = n == 0 && vm->config->message_irq != 0,
                .sender = (ulong)i << 16 | (ulong)n << 24,
            };
            vm->vcpus[n].data[COMPONENT_IPC] = inbox;
        }
    }
    return NULL;
}

void ipc_open(struct vcpu *v)
{
    struct ipc_inbox *inbox = ipc_inbox_of(v);

    inbox->next = inbox->first;
    inbox->room = IPC_QUEUE;
}

void ipc_close(struct vcpu *v)
{
    ipc_inbox_of(v)->room = 0;
}
