/* SPDX-License-Identifier: Apache-2.0 */
#include "arch_virtio.h"
#include "host.h"

unsigned host_stores_again;

void arch_store_again(void)
{
    host_stores_again++;
}
