/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the accelerators of the fabric: hypercalls, stores to a device's page, VMs' stops, and
 * what is behind PCI functions. accel.h declares what is listed here. */
#include "component.h"

#include "accel.h"
#include "accel_abi.h"
#include "arch_pages.h"
#include "hypercall.h"

static const struct hcall_entry calls[] = {
    {HCALL_ACCEL_ENUMERATE, accel_enumerate, NULL},
    {HCALL_ACCEL_REQUEST, accel_request, NULL},
    {HCALL_ACCEL_RELEASE, accel_release, NULL},
    {HCALL_ACCEL_STATUS, accel_status, NULL},
    {HCALL_ACCEL_GET_STATS, accel_get_stats, NULL},
    {HCALL_ACCEL_EVENTS, accel_events, NULL},
    {HCALL_ACCEL_SET_PRIORITY, accel_set_priority, NULL},
    {HCALL_ACCEL_SET_MODEL, accel_set_model, NULL},
    {HCALL_ACCEL_GET_REGION, accel_get_region, NULL},
    {HCALL_ACCEL_GET_CLIENT, accel_get_client, NULL},
    {HCALL_ACCEL_APPLY_OVERLAY, accel_apply_overlay, NULL},
    {HCALL_ACCEL_REMOVE_OVERLAY, accel_remove_overlay, NULL},
    {HCALL_ACCEL_OVERLAY_STATUS, accel_overlay_status, NULL},
    {0, NULL, NULL},
};

static const char *boot(void)
{
    accel_waiters_boot();
    units_boot();
    return accel_boot();
}

/* The architecture's fence first: a START that accel_sync() looks for was written before it. */
static void cpu_sync(void)
{
    arch_pages_sync();
    accel_sync();
}

static const struct pci_accelerators accelerators = {
    .exists = accelerator_exists, .pending = accelerator_pending, .mask = accelerator_mask};
static const struct cipher_units cipher_units = {
    .begin = cipher_unit_begin, .result = cipher_unit_result, .stop = cipher_unit_stop};
static const struct pci_backends backends = {.accelerators = &accelerators,
                                             .cipher_units = &cipher_units};

COMPONENT(accel, .boot = boot, .vm_reset = accel_vm_reset, .vm_stop = accel_vm_stop,
          .vcpu_start = overlay_vcpu_start, .vcpu_stop = accel_vcpu_stop, .cpu_sync = cpu_sync,
          .write_fault = accel_write_fault, .resource_bound = accel_bound, .pci = &backends,
          .hypercalls = calls);
