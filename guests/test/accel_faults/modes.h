/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>

/** Sleeps until `time`. */
void wait_until(uint64_t time);

/** The number of the word `key=number` of the kernel's arguments; `otherwise` without such a word. */
unsigned int number_of(const void *fdt, const char *key, unsigned int otherwise);

/**
 * Small jobs on all VCPUs of the VM (`vcpus=`), `jobs=` on each: VCPU n uses the VM's device n. Returns what was wrong. The last
 * line:
 *
 *      accel: done, 2000 jobs, 0 wrong
 */
unsigned int harts(const void *fdt);

#endif
