/* SPDX-License-Identifier: Apache-2.0 */
/* Registers messages between VCPUs (messages.c) and doorbells between VMs (shared.c): hypercalls,
 * the inbox of a VCPU that starts or stops, the doorbells of a VM that starts. */
#include "component.h"

#include "calls.h"
#include "ipc_abi.h"

static const struct hcall_entry calls[] = {
    {HCALL_IPC_SEND_MSG, ipc_send_msg, ipc_trace_send},
    {HCALL_IPC_SEND_WAIT, ipc_send_wait, ipc_trace_send},
    {HCALL_IPC_RECV_MSG, ipc_recv_msg, ipc_trace_receive},
    {HCALL_IPC_RING, ipc_ring, NULL},
    {HCALL_IPC_DOORBELLS, ipc_doorbells, NULL},
    {0, NULL, NULL},
};

COMPONENT(ipc, .boot = ipc_boot, .vm_start = ipc_forget_doorbells, .vcpu_start = ipc_open,
          .vcpu_stop = ipc_close, .hypercalls = calls);
