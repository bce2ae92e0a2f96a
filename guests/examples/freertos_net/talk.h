/* SPDX-License-Identifier: Apache-2.0 */
/* A test of TCP with an echo service, for the guest freertos_net. */
#ifndef TALK_H
#define TALK_H

#include <stdint.h>

#include "lwip/ip_addr.h"

/**
 * A task: connects to the TCP echo service of `peer` each `period_ms`, sends `bytes` (at most 4096)
 * and compares what comes back. Call from a task, while lwIP runs.
 */
void talk_start(const ip4_addr_t *peer, uint32_t period_ms, uint32_t bytes);

#endif
