/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

#include "shared.h"

COMPONENT(shared, .boot = shared_boot, .vm_reset = shared_vm_reset, .vm_stop = shared_vm_stop,
          .resource_bound = shared_bound);
