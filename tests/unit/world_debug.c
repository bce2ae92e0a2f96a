/* SPDX-License-Identifier: Apache-2.0 */
#include "world_debug.h"

#include <string.h>

#include "session.h"

struct debug_answer world_debug_answer;

unsigned world_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu)
{
    struct debug_request request = {.operation = (uint8_t)operation, .vcpu = (uint8_t)vcpu};
    const char *name = operation == DEBUG_ATTACH ? hyp.vms[vm].config->name : "";

    world_enter(cpu);
    memcpy(request.data, name, strlen(name));
    memset(&world_debug_answer, 0xa5, sizeof(world_debug_answer));
    do {
        session_request(&request, (unsigned)strlen(name), &world_debug_answer);
    } while (world_debug_answer.error == DEBUG_MORE);
    return world_debug_answer.error;
}

bool world_debug_still(unsigned cpu)
{
    struct debug_status status;

    if (world_debug(cpu, DEBUG_STATUS, 0, 0) != DEBUG_OK) {
        return false;
    }
    memcpy(&status, world_debug_answer.data, sizeof(status));
    return status.still == 1;
}
