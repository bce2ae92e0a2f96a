/* SPDX-License-Identifier: Apache-2.0 */
/* What lwIP wants to know of compiler, C library and system. */
#ifndef LWIP_ARCH_CC_H
#define LWIP_ARCH_CC_H

#include <stdint.h>

#include "fatal.h"

#define BYTE_ORDER LITTLE_ENDIAN

/* The SDK's C library does not have these headers. */
#define LWIP_NO_INTTYPES_H 1
#define LWIP_NO_UNISTD_H 1
#define LWIP_NO_CTYPE_H 1
#define LWIP_PROVIDE_ERRNO 1

/* Of netif_find() only, which no guest calls: there is no such function to link. */
int atoi(const char *text);

#define LWIP_PLATFORM_DIAG(x) ((void)0)
#define LWIP_PLATFORM_ASSERT(x) fatal_assert(__FILE__, __LINE__)

/* net.c: for port numbers and initial sequence numbers. */
uint32_t net_random(void);
#define LWIP_RAND() net_random()

#endif
