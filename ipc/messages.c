/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from VCPU to VCPU: copied into the receiver's inbox, from there to where the receiver wants it. Senders take
 * turns by sched_lock, which they need anyway to wake the receiver; the receiver is alone at its end of the inbox and
 * needs none. A message is there once `next` says so, and wholly; those of one sender stay in order.
 */
#include "arch.h"
#include "atomic.h"
#include "guestmem.h"
#include "hypercall.h"
#include "ipc.h"
#include "lib.h"
#include "sched.h"
#include "system.h"

_Static_assert(IPC_MESSAGE_MAX == INBOX_WORDS * sizeof(uint64_t) && IPC_RING == INBOX_MESSAGES, "guests count on it");

#define SIZE_OF(head) ((head) & 0xffffU)

/* Out of line, so that a message that is taken does not pay for the ways in which one is not. */
static struct hcall_ret __attribute__((noinline, cold)) refuse(long error)
{
    return ipc_error(error);
}

/* Puts a message into v's inbox. Whole words: the receiver gets no more than the size. */
static inline struct hcall_ret __attribute__((always_inline)) post(struct vcpu *v, const uint64_t *src, ulong head,
                                                                   ulong size)
{
    struct inbox *inbox = &v->inbox;
    uint64_t *dst;
    unsigned next;

    spin_lock(&sched_lock);
    next = inbox->next;
    /* No barrier: nothing is stored into a place but where the branch says that it is free. */
    if (UNLIKELY(next - atomic_load_relaxed(&inbox->first) >= inbox->room)) {
        bool off = inbox->room == 0;

        spin_unlock(&sched_lock);
        return refuse(off ? IPC_ERR_NOT_RUNNING : IPC_ERR_NOT_NOW);
    }
    inbox->head[next % INBOX_MESSAGES] = head;
    dst = inbox->message[next % INBOX_MESSAGES];
    KEEP_IN_REGISTER(dst); /* or compilers make the place's address from scratch for every word */
    copy_few_words(dst, src, (size + 7U) / 8U);
    arch_store_release((int32_t *)&inbox->next, (int32_t)(inbox->next + 1U));
    ipc_notify(v);
    return ipc_error(HCALL_OK);
}

/* From a buffer that is not aligned, or not in the VM's first region, or nowhere. */
static struct hcall_ret __attribute__((noinline, cold)) post_from(struct vcpu *v, gpa_t gpa, ulong head, ulong size)
{
    uint64_t copy[INBOX_WORDS];

    return guestmem_read(cpu_self()->current->vm, gpa, copy, size) ? post(v, copy, head, size)
                                                                   : ipc_error(HCALL_ERR_INVALID_ADDRESS);
}

static struct hcall_ret ipc_send_msg(ulong to, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    const struct vcpu *self = cpu_self()->current;
    ulong id = to & 0xffffU;
    const uint64_t *src;
    struct vm *vm;

    (void)a3, (void)a4, (void)a5;
    if (UNLIKELY(id >= 32U ||
                 (self->vm->config->send_to >> id & 1U) == 0)) { /* of VMs that there are, says the image */
        return refuse(id < hyp.nvms ? HCALL_ERR_DENIED : IPC_ERR_NOBODY);
    }
    vm = &hyp.vms[id];
    KEEP_IN_REGISTER(vm);
    if (UNLIKELY(to >> 16 >= vm->total)) {
        return refuse(IPC_ERR_NOBODY);
    }
    if (UNLIKELY(size - 1U >= IPC_MESSAGE_MAX)) {
        return refuse(IPC_ERR_SIZE);
    }
    src = guestmem_at(self->vm, gpa, size);
    if (UNLIKELY(src == NULL)) {
        return post_from(&vm->vcpus[to >> 16], gpa, size | self->inbox.sender, size);
    }
    return post(&vm->vcpus[to >> 16], src, size | self->inbox.sender, size);
}
HYPERCALL(HCALL_IPC_SEND_MSG, ipc_send_msg);

/* The way from a sender that then waits to the receiver, without going by the sender's next instruction. */
static struct hcall_ret ipc_send_wait(ulong to, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct hcall_ret ret = ipc_send_msg(to, gpa, size, a3, a4, a5);

    if (ret.error == HCALL_OK) {
        vcpu_wait(cpu_self()->current);
    }
    return ret;
}
HYPERCALL(HCALL_IPC_SEND_WAIT, ipc_send_wait);

/* The message is with its receiver: its place is free. */
static inline struct hcall_ret taken(struct vcpu *v, ulong head)
{
    arch_store_release((int32_t *)&v->inbox.first, (int32_t)(v->inbox.first + 1U));
    if (UNLIKELY(v->inbox.by_line)) {
        ipc_raise_line(v->vm);
    }
    return (struct hcall_ret){HCALL_OK, head};
}

static struct hcall_ret __attribute__((noinline, cold)) take_to(struct vcpu *v, gpa_t gpa, const uint64_t *src,
                                                                ulong head)
{
    if (!guestmem_write(v->vm, gpa, src, SIZE_OF(head))) {
        return (struct hcall_ret){HCALL_ERR_INVALID_ADDRESS, head};
    }
    return taken(v, head);
}

/* No message waits. The line may be high because of one that is gone: VCPU 0 was turned off, and on again. */
static struct hcall_ret __attribute__((noinline, cold)) nothing(const struct vcpu *self)
{
    if (self->inbox.by_line) {
        ipc_raise_line(self->vm);
    }
    return ipc_error(IPC_ERR_NOT_NOW);
}

/* What cannot be delivered stays where it is. */
static struct hcall_ret ipc_recv_msg(ulong gpa, ulong room, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vcpu *self = cpu_self()->current;
    unsigned n = self->inbox.first % INBOX_MESSAGES;
    const uint64_t *src = self->inbox.message[n];
    ulong head, size;
    uint64_t *dst;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (ipc_empty(&self->inbox)) {
        return nothing(self);
    }
    head = self->inbox.head[n];
    size = SIZE_OF(head);
    if (UNLIKELY(size > room)) {
        return (struct hcall_ret){IPC_ERR_SIZE, head};
    }
    dst = guestmem_at(self->vm, gpa, size);
    if (UNLIKELY(dst == NULL || size % 4U != 0 || size < 8U)) {
        return take_to(self, gpa, src, head);
    }
    if (size % 8U != 0) { /* to the byte */
        *(uint32_t *)&dst[size / 8U] = (uint32_t)src[size / 8U];
    }
    copy_few_words(dst, src, size / 8U);
    return taken(self, head);
}
HYPERCALL(HCALL_IPC_RECV_MSG, ipc_recv_msg);
