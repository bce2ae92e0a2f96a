/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role=ticker: waits for its timer every millisecond and reports the lateness. While another VM is
 * reloaded repeatedly, this is the delay that loading causes.
 */
#include "bench.h"
#include "csr.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"

#define TICKS_A_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define PERIOD (1000U * TICKS_A_US)

_Noreturn void bench_run_ticker(void)
{
    static uint64_t late[BENCH_SAMPLES_MAX];
    uint64_t deadline = csr_read_time();

    machine_wake_by_timer(true);
    for (unsigned int i = 0; i < BENCH_SAMPLES_MAX; i++) {
        uint64_t now = csr_read_time();

        deadline = (now > deadline ? now : deadline) + PERIOD;
        timer_set(deadline);
        for (now = csr_read_time(); now < deadline; now = csr_read_time()) {
            machine_wait();
        }
        late[i] = (now - deadline + TICKS_A_US - 1U) / TICKS_A_US;
    }
    timer_set(UINT64_MAX);
    bench_report("riscv.load.late.max", "us", late, BENCH_SAMPLES_MAX);
    print("BENCH done\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}
