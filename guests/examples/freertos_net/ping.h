/* SPDX-License-Identifier: Apache-2.0 */
/* ICMP echo requests (RFC 792) over lwIP's raw API. One task uses it. */
#ifndef PING_H
#define PING_H

#include <stdbool.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "lwip/ip_addr.h"

/** Begins to receive the answers of `peer` for the calling task. False: out of memory. */
bool ping_open(const ip4_addr_t *peer);

/** Sends a request and waits for its answer until the tick `end`. Ticks of machine_time() for the
 * round trip; 0: no answer. */
uint64_t ping_once(uint16_t sequence, TickType_t end);

#endif
