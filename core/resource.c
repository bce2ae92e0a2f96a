/* SPDX-License-Identifier: Apache-2.0 */
#include "resource.h"

extern resource_bound_fn *const __start_resource_bounds[], *const __stop_resource_bounds[];

enum resource_answer resource_bound(const struct vm *vm, ulong number, ticks_t job,
                                    struct resource_wait *wait)
{
    enum resource_answer answer = RESOURCE_UNKNOWN;

    for (resource_bound_fn *const *bound = __start_resource_bounds;
         bound < __stop_resource_bounds && answer == RESOURCE_UNKNOWN; bound++) {
        answer = (*bound)(vm, number, job, wait);
    }
    return answer;
}
