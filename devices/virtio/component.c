/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the virtual PCI bus: boot, the reset and stop of VMs, and the operator's list of
 * counters. */
#include "component.h"

#include "virtio.h"

COMPONENT(virtio, .boot = virtio_boot, .vm_reset = virtio_vm_reset, .vm_stop = virtio_vm_stop,
          .console = &counters_part);
