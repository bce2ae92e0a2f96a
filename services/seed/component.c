/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the machine's seed (seed.c): taken from the firmware's device tree at boot, given to
 * VMs when they are loaded, and to the generators of other components as keys. */
#include "component.h"

#include "seed_parts.h"

COMPONENT(seed, .boot_seed = seed_take, .make_key = seed_key, .vm_loaded = seed_step);
