/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

#include "seed_parts.h"

COMPONENT(seed, .boot_seed = seed_take, .make_key = seed_key, .vm_loaded = seed_step);
