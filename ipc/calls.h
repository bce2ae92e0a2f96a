/* SPDX-License-Identifier: Apache-2.0 */
/* What component.c lists of messages.c and shared.c: hypercalls, their trace events, and what is
 * done when a VM or a VCPU starts or stops. */
#ifndef IPC_CALLS_H
#define IPC_CALLS_H

#include "hypercall.h"

struct vm;

hcall_function ipc_send_msg, ipc_send_wait, ipc_recv_msg, ipc_ring, ipc_doorbells;
void ipc_trace_send(const struct vcpu *caller, ulong to, ulong value);
void ipc_trace_receive(const struct vcpu *caller, ulong gpa, ulong head);

const char *ipc_boot(void);
void ipc_open(struct vcpu *v);
void ipc_close(struct vcpu *v);
void ipc_forget_doorbells(struct vm *vm);

#endif
