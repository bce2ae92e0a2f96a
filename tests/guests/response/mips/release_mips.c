/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the timer interrupt that releases the task, on MIPS32 (release.h). */
#include "release.h"

#include "machine.h"

uint64_t release_next_tick(void)
{
    return machine_time_near(cp0_read_compare());
}

uint64_t release_arm(uint64_t due)
{
    (void)timer_arm(due);
    return 2 * due; /* clocks, of which Count has half as many */
}
