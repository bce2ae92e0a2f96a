/* SPDX-License-Identifier: Apache-2.0 */
/* The contract arch_virtio.h for unit tests. No guest code runs on the host, so a store that would
 * be executed again is only counted. Owns the counter. */
#include "arch_virtio.h"
#include "host.h"

unsigned host_stores_again;

void arch_store_again(void)
{
    host_stores_again++;
}
