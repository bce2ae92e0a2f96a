/* SPDX-License-Identifier: Apache-2.0 */
/* A debugger's requests in a world. */
#ifndef TESTBED_DEBUG_H
#define TESTBED_DEBUG_H

#include "debug_abi.h"
#include "testbed.h"

/* One request without data on CPU `cpu`, or of DEBUG_ATTACH to VM number `vm`; enum debug_error. What else it answers is in
 * testbed_debug_answer. */
unsigned testbed_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu);
extern struct debug_answer testbed_debug_answer;

/* The session's VM stands still, as its status says. */
bool testbed_debug_still(unsigned cpu);

#endif
