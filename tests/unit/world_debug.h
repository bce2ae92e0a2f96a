/* SPDX-License-Identifier: Apache-2.0 */
/* A debugger's requests in a world. */
#ifndef WORLD_DEBUG_H
#define WORLD_DEBUG_H

#include "debug_abi.h"
#include "world.h"

/* One request without data on CPU `cpu`, or of DEBUG_ATTACH to VM number `vm`; enum debug_error. What else it answers is in
 * world_debug_answer. */
unsigned world_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu);
extern struct debug_answer world_debug_answer;

/* The session's VM stands still, as its status says. */
bool world_debug_still(unsigned cpu);

#endif
