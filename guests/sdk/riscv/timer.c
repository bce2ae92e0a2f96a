/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's timer on RISC-V, by stimecmp or the SBI (timer.h). Owns the choice, made by
 * timer_init(). */
#include "timer.h"

#include "csr.h"
#include "sbi.h"
#include "trap.h"

static bool timer_sstc;

bool timer_init(void)
{
    timer_sstc = trap_probe_stimecmp();
    timer_set(UINT64_MAX); /* cancels a timer that the firmware has left armed */
    return timer_sstc;
}

bool timer_is_direct(void)
{
    return timer_sstc;
}

const char *timer_name(void)
{
    return timer_sstc ? "stimecmp" : "SBI timer";
}

void timer_set(uint64_t deadline)
{
    if (timer_sstc) {
        csr_write_stimecmp(deadline);
    } else {
        (void)sbi_set_timer(deadline);
    }
}
