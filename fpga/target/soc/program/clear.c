/* SPDX-License-Identifier: Apache-2.0 */
/* What the clearing of a VM's RAM costs: the hypervisor's function, with all stores in memory at
 * the end. */
#include "lib.h"
#include "soc.h"

#define BYTES 4096U

void test_clear(void)
{
    static uint64_t area[BYTES / sizeof(uint64_t)]; /* owner: this function */
    uint64_t taken;

    area[BYTES / sizeof(uint64_t) - 1U] = 1;
    MEASURE(taken, clear_words(area, BYTES); fence());
    check("cleared", *(volatile uint64_t *)&area[BYTES / sizeof(uint64_t) - 1U], 0);
    report("clear_4096", taken);
}
