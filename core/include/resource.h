/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared resources that RT apps declare. A component that gives a resource to VMs states how long
 * one of them waits for it at most; the component that admits apps counts this time. Neither names
 * the other.
 */
#ifndef RESOURCE_H
#define RESOURCE_H

#include "types.h"

struct vm;

enum resource_answer {
    RESOURCE_UNKNOWN = 0, /* the VM has no such resource */
    RESOURCE_BOUNDED,     /* the wait has a bound */
    RESOURCE_FAILED,      /* it does not work */
    RESOURCE_BLOCKS,      /* a VCPU that uses it is blocked meanwhile */
    RESOURCE_SHARED,      /* another VM can take it for any time; the component has reported why */
    /* its manager works on each CPU, so that the apps of all would delay it */
    RESOURCE_CPUS,
};

struct resource_wait {
    ticks_t longest; /* from the request until the job is over, CPU time of apps aside */
    /* a resource that has been given to the VM is taken away again if it does not work after this
     * time */
    ticks_t kept;
    bool direct; /* no CPU has a part in it: apps do not delay it */
};

/* Computes how long a job of the VM on its resource `number` takes at most, if it takes `job` ticks
 * while no other VM uses the resource: less than 2^31 us. On RESOURCE_BOUNDED fills `wait`. Called
 * without locks; takes as long as a step of a hypercall may. */
typedef enum resource_answer resource_bound_fn(const struct vm *vm, ulong number, ticks_t job,
                                               struct resource_wait *wait);

/* Asks the components, of which at most one knows a resource. RESOURCE_UNKNOWN: none does. */
resource_bound_fn resource_bound;

#endif
