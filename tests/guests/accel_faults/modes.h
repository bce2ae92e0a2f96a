/* SPDX-License-Identifier: Apache-2.0 */
/* The modes of this guest, of which main.c selects one by the boot argument `mode=`. */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>

/** Sleeps until `time`. */
void wait_until(uint64_t time);

/**
 * Small jobs on all VCPUs of the VM (`vcpus=`), `jobs=` on each: VCPU n uses the VM's device n.
 * Returns what was wrong. The last line:
 *
 *      accel: done, 2000 jobs, 0 wrong
 */
unsigned int harts(const void *fdt);

/**
 * A VM that ends itself again and again, `lives=` times, each time `step=` tenths of a microsecond
 * later than before, while it uses the device of the task `probe`. Its last life runs jobs to their
 * end. Needs the memory shared with the VMs in mode `beside` at 0xa0000000, and two VCPUs. Prints
 * when each life ended, in ticks:
 *
 *      accel: life 7 ended at 123456
 */
unsigned int mortal(const void *fdt);

/** A small job `delay=` microseconds after each one that the mortal VM starts, until that one is
 * over. */
unsigned int beside(const void *fdt);

/**
 * A small job each millisecond, without end, while another VM attacks. Prints each 5 ms:
 *
 *      accel: 20 jobs, 0 wrong
 */
unsigned int steady(const void *fdt);

/** Requests the VM's first device, says whether it has failed, and runs jobs on the second. */
unsigned int refused(const void *fdt);

#endif
