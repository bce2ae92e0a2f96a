/* SPDX-License-Identifier: Apache-2.0 */
/* Debug requests to the testbed. */
#ifndef TESTBED_DEBUG_H
#define TESTBED_DEBUG_H

#include "debug_abi.h"
#include "testbed.h"

/* Executes a request without data on CPU `cpu`; DEBUG_ATTACH attaches to VM `vm`. Returns enum
 * debug_error; the rest of the answer is in testbed_debug_answer. */
unsigned testbed_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu);
extern struct debug_answer testbed_debug_answer;

/* Whether the session's status reports the VM as halted. */
bool testbed_debug_halted(unsigned cpu);

#endif
