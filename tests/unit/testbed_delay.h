/* SPDX-License-Identifier: Apache-2.0 */
/* The manager's bounds on the delays of devices (devices/accel/delay.c), without a fabric. */
#ifndef TESTBED_DELAY_H
#define TESTBED_DELAY_H

#include "testbed.h"

/* Computes the bounds for a section of the image (accel_image.h), which stays where it is. After a
 * boot of VMs with the numbers that the section names, and before the next boot. All of its
 * bitstreams count as checked. At most 64 devices. */
void testbed_delay_set(const void *section);

/* The answer for a job of this length on a VM's device, an enum resource_answer, and the times of
 * struct resource_wait. */
unsigned testbed_delay_bound(unsigned vm, unsigned device, uint64_t job, uint64_t *longest,
                             uint64_t *kept);

#endif
