/* SPDX-License-Identifier: Apache-2.0 */
/* Accelerators as guests see them: hypercalls, status and events of devices, and the structures
 * that the calls write to the guest's memory. */
#ifndef ACCEL_ABI_H
#define ACCEL_ABI_H

#include "hypercall_abi.h"

/* --- Accelerators --- */
/* For VMs with `accelerators` (docs/accelerators.md). `device` is the number of the device, in the
 * order of the system file's `/accelerators`. */

/* (index from 0, address of struct accel_info, size) -> number of the VM's devices
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_ACCEL_ENUMERATE 40
/* (device) -> status
 * - HCALL_ERR_INVALID_PARAM
 *
 * Requests a region without a write to the device's page, and returns at once
 * ACCEL_STATUS_CONNECTED, or ACCEL_STATUS_WAITING (with the guest model ACCEL_EVENT_READY follows).
 */
#define HCALL_ACCEL_REQUEST 41
/* (device)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_INVALID_STATE: a job runs, the region is being configured, or another client's job is
 *   being stopped for the request
 *
 * Gives up the region, or withdraws the request. */
#define HCALL_ACCEL_RELEASE 42
/* (device) -> status
 * - HCALL_ERR_INVALID_PARAM
 *
 * ACCEL_STATUS_* in the lowest bits, the region (while connected) from bit 8, the priority from 16,
 * the model from 24, and from 32 the cycles of the fabric that configuring a region for the device
 * takes at most. */
#define HCALL_ACCEL_STATUS 43
/* (device, address of struct accel_stats, size)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_ACCEL_GET_STATS 44
/* () -> events of all devices since the last call, ACCEL_EVENT_* << device
 * - HCALL_ERR_DENIED: the VM has no accelerators
 *
 * Clears the events it returns, and source 22 of the VM's interrupt controller. */
#define HCALL_ACCEL_EVENTS 45
/* (device, priority 0 to 15 of its next request)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED: needs `accelerator-priorities` */
#define HCALL_ACCEL_SET_PRIORITY 46
/* (device, ACCEL_MODEL_* from its next write)
 * - HCALL_ERR_INVALID_PARAM */
#define HCALL_ACCEL_SET_MODEL 47
/* (region, address of struct accel_region, size) -> number of regions
 * - HCALL_ERR_DENIED: needs `accelerator-monitor`
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_ACCEL_GET_REGION 48
/* (index, address of struct accel_client, size) -> number of devices of all VMs
 * - HCALL_ERR_DENIED: needs `accelerator-monitor`
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_ACCEL_GET_CLIENT 49

/* ENUMERATE, GET_REGION and GET_CLIENT write the structure of an element that exists. */

/* --- Overlays --- */
/* For VMs with `overlays` (docs/accelerators.md#overlays). `overlay` is the number of the overlay,
 * in the order of the system file's `/accelerators/overlays`. */

/* (overlay)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED
 * - HCALL_ERR_INVALID_STATE: another transaction runs, or the overlay is applied already */
#define HCALL_ACCEL_APPLY_OVERLAY 50
/* (overlay)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED
 * - HCALL_ERR_INVALID_STATE: another transaction runs, or the overlay is not applied */
#define HCALL_ACCEL_REMOVE_OVERLAY 51
/* (overlay, address of struct accel_overlay, size)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_ACCEL_OVERLAY_STATUS 52

/* APPLY_OVERLAY and REMOVE_OVERLAY start a transaction and return at once. At its end the VM gets
 * ACCEL_EVENT_OVERLAY if it has accelerators; without, it reads the status. The event also tells a
 * VM that devices of it have come or gone (ENUMERATE). */

/* --- Values of these calls --- */
/* The lowest bits of a status. */
#define ACCEL_STATUS_CONNECTED 1U
/* requested, or preempted with its job saved: it gets a region when there is one */
#define ACCEL_STATUS_WAITING 2U
#define ACCEL_STATUS_FAILED 4U /* its region could not be configured; until the VM restarts */

#define ACCEL_MODEL_NATIVE 0U /* the first write blocks until the device is there */
#define ACCEL_MODEL_GUEST 1U  /* the first write completes at once; events tell what happens */

#define ACCEL_EVENT_READY 0x1UL           /* connected */
#define ACCEL_EVENT_WAIT 0x10000UL        /* a write has requested it, and it is not ready */
#define ACCEL_EVENT_PREEMPT 0x100000000UL /* disconnected; a job that ran continues later */
/* Of no device: the set of the VM's devices has changed (HCALL_ACCEL_ENUMERATE), or a transaction
 * that the VM has started is over. */
#define ACCEL_EVENT_OVERLAY 0x1000000000000UL

#define ACCEL_OVERLAY_REMOVED 0U
#define ACCEL_OVERLAY_APPLYING 1U
#define ACCEL_OVERLAY_APPLIED 2U
#define ACCEL_OVERLAY_REMOVING 3U

/* Phases of a transaction. To apply: LDTO, LFW, DCPL, LCFG, CPL, UPDT, LDRV. To remove: UDTO, UDRV,
 * DCPL. */
#define ACCEL_PHASE_LDTO 0U /* the overlay is checked against those that are applied */
/* its bitstreams are looked up: those that have passed the check at boot */
#define ACCEL_PHASE_LFW 1U
/* its regions are taken from their clients, and decoupled; or given back to all devices */
#define ACCEL_PHASE_DCPL 2U
#define ACCEL_PHASE_LCFG 3U /* they are configured */
#define ACCEL_PHASE_CPL 4U  /* they are coupled again: checked */
/* the devices that it provides are there, its regions are kept for their devices */
#define ACCEL_PHASE_UPDT 5U
#define ACCEL_PHASE_LDRV 6U /* VMs with these devices get ACCEL_EVENT_OVERLAY */
#define ACCEL_PHASE_UDTO 7U /* the overlay is found */
/* the devices that it provides lose their jobs and are absent; their VMs get ACCEL_EVENT_OVERLAY */
#define ACCEL_PHASE_UDRV 8U
#define ACCEL_PHASES 9U
#define ACCEL_OVERLAY_NONE 0xffU /* no phase, no region */

/* State of a region (docs/fabric.md), as in PRR_STATUS: prr_state_e of fabric_pkg.sv. */
#define ACCEL_REGION_IDLE 0U
#define ACCEL_REGION_BUSY 1U
#define ACCEL_REGION_PREEMPT 2U
#define ACCEL_REGION_SWITCH 3U
#define ACCEL_REGION_RECONFIG 4U
#define ACCEL_REGION_HOLD 5U

/* The registers of device n, which docs/fabric.md has (IF page), are at ACCEL_PAGES + n *
 * ACCEL_PAGE. */
#define ACCEL_PAGES 0x18100000UL
#define ACCEL_PAGE 0x1000UL
#define ACCEL_IRQ 21U /* source of the interrupt controller: a job is over */
/* source of the interrupt controller: high while HCALL_ACCEL_EVENTS has something to report */
#define ACCEL_EVENT_IRQ 22U
#ifndef __ASSEMBLER__
#include <stdint.h>

struct accel_info {
    char name[16];   /* NUL-terminated */
    uint32_t device; /* its number */
    uint32_t task;   /* number of its HW task */
    uint64_t page;   /* guest-physical address of its registers */
};

/* Since the VM's start. */
struct accel_stats {
    uint64_t requests;
    /* requests answered by: assign; assign and configure; preempt; preempt and configure */
    uint64_t paths[4];
    uint64_t waits; /* requests that had to wait for a region */
    /* times that it lost its region: to another client, by a fault, or unused in time */
    uint64_t losses;
    uint64_t faults; /* jobs that failed */
};

/* A region, and the device of a VM that has it or was connected to it last. */
struct accel_region {
    char vm[16];     /* NUL-terminated; empty: none */
    char device[16]; /* NUL-terminated; empty: none */
    uint32_t state;  /* ACCEL_REGION_* */
    uint32_t task;   /* HW task that the region holds; 0: none */
    uint64_t cycles; /* of the fabric, that its last configuration took; 0 before the first */
};

/* A device of a VM. */
struct accel_client {
    char vm[16];     /* NUL-terminated */
    char device[16]; /* NUL-terminated */
    uint64_t status; /* as HCALL_ACCEL_STATUS returns it to the VM */
    struct accel_stats stats;
};

struct accel_overlay {
    char name[16];  /* NUL-terminated */
    uint32_t state; /* ACCEL_OVERLAY_* */
    /* phase in which the last transaction failed; ACCEL_OVERLAY_NONE: it did not */
    uint32_t failed;
    uint32_t region;       /* the region that it failed for; ACCEL_OVERLAY_NONE: none */
    uint32_t transactions; /* that have ended, of all overlays, since boot */
    /* by ACCEL_PHASE_*: of the timebase, that the phase of its last transaction took; 0: not
     * reached */
    uint64_t ticks[9];
};

#endif
#endif
