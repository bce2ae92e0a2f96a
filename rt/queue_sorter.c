/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the sorters of all queues at boot, those that rt_queue_sorter.h uses, each for as many apps
 * as the system has slots for. Owns no state. */
#include "rt_queue.h"
#include "system.h"

_Static_assert(RT_QUEUE_MAX <= SORTER_NODES, "a queue fits into a sorter");

/* Number of slots for apps, of which one CPU may get all. */
static unsigned count_apps(void)
{
    unsigned apps = 0;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        apps += hyp.vms[i].total - hyp.vms[i].nvcpus;
    }
    return apps;
}

/* A system without apps needs no fabric. */
const char *rt_queues_boot(void)
{
    unsigned apps = count_apps();

    return apps == 0 ? NULL : sorters_take(0, RT_QUEUE_SORTERS, apps);
}
