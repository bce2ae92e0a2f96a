/* SPDX-License-Identifier: Apache-2.0 */
/* Gives requests to the hypervisor's debug session (testbed_debug.h). Owns the last answer. */
#include "testbed_debug.h"

#include <string.h>

#include "session.h"

struct debug_answer testbed_debug_answer;

unsigned testbed_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu)
{
    struct debug_request request = {.operation = (uint8_t)operation, .vcpu = (uint8_t)vcpu};
    const char *name = operation == DEBUG_ATTACH ? hyp.vms[vm].config->name : "";

    testbed_enter(cpu);
    memcpy(request.data, name, strlen(name));
    memset(&testbed_debug_answer, 0xa5, sizeof(testbed_debug_answer));
    do {
        session_request(&request, (unsigned)strlen(name), &testbed_debug_answer);
    } while (testbed_debug_answer.error == DEBUG_MORE);
    return testbed_debug_answer.error;
}

bool testbed_debug_halted(unsigned cpu)
{
    struct debug_status status;

    if (testbed_debug(cpu, DEBUG_STATUS, 0, 0) != DEBUG_OK) {
        return false;
    }
    memcpy(&status, testbed_debug_answer.data, sizeof(status));
    return status.still == 1;
}
