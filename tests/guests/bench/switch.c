/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of two VMs on one hart that only read instret: each gap between reads is a period in which
 * the other VM ran. The VMs share no memory; each prints its gaps, and the host pairs them
 * (switch_loop.S). Boot arguments: `patience=ms`, time to wait for the next gap before giving up;
 * `gaps=n`, number of gaps (200 at most); `threshold=instructions`, the longest interval that does
 * not count as a gap. Where instret counts the instructions of all harts (QEMU's -icount), short
 * intervals are frequent, because QEMU alternates between harts.
 */
#include <stdbool.h>

#include "bench.h"
#include "csr.h"
#include "fdt.h"
#include "hcall.h"
#include "platform.h"
#include "print.h"
#include "timer.h"
#include "trap.h"

#define SWITCH_GAPS 200U
#define SWITCH_THRESHOLD 64U   /* instructions: above the loop's 3 or 4, below any exit */
#define SWITCH_PATIENCE 3000UL /* ms without a gap: a quantum is at most a second */

static struct bench_gap switch_gaps[SWITCH_GAPS];
static volatile unsigned int switch_count;
static unsigned int switch_wanted = SWITCH_GAPS;

static _Noreturn void switch_finish(void)
{
    csr_clear_sstatus(SSTATUS_SIE);
    for (unsigned int i = 0; i < switch_count; i++) {
        print("GAP %lu %lu\n", switch_gaps[i].before, switch_gaps[i].after);
    }
    print("BENCH done\n");
    sbi_shutdown(switch_count == 0 ? SBI_RESET_SYSTEM_FAILURE : SBI_RESET_NO_REASON);
}

/* A VM that is alone on its hart sees no gaps: end with those recorded. */
static void switch_give_up(void)
{
    print("bench: only %u gaps of %u: is another VM running on this hart?\n", switch_count,
          switch_wanted);
    switch_finish();
}

_Noreturn void bench_run_switch(const void *fdt)
{
    struct hcall_ret id = hcall_get_id();
    uint64_t patience =
        fdt_bootarg_number(fdt, "patience", SWITCH_PATIENCE) * (PLATFORM_TIMEBASE_HZ / 1000);
    uint64_t wanted = fdt_bootarg_number(fdt, "gaps", SWITCH_GAPS);
    uint64_t threshold = fdt_bootarg_number(fdt, "threshold", SWITCH_THRESHOLD);

    switch_wanted = wanted < SWITCH_GAPS ? (unsigned int)wanted : SWITCH_GAPS;
    print("bench: switch role, VM %ld\n", id.error == HCALL_OK ? (long)id.value : -1L);
    trap_set_interrupt(IRQ_TIMER, switch_give_up);
    timer_set(csr_read_time() + patience);
    csr_write_sie(SIE_TIMER);
    csr_set_sstatus(SSTATUS_SIE);
    while (switch_count < switch_wanted) {
        switch_gaps[switch_count] = switch_wait_gap(threshold);
        switch_count++;
        timer_set(csr_read_time() + patience); /* may exit, but only between two gaps */
    }
    switch_finish();
}
