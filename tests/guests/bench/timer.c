/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency from a timer's deadline to its handler. The deadline is a value of the time CSR, the
 * arrival of the handler a value of instret, so the two clocks are calibrated first: under -icount
 * a tick is a fixed number of instructions.
 */
#include "timer.h"

#include <stdbool.h>

#include "bench.h"
#include "print.h"

#define CLOCK_SAMPLES 1000U
#define CLOCK_SPAN 10000U /* ticks over which the rate is measured */
#define TIMER_AHEAD 100U  /* ticks from arming to the deadline: more than arming takes */

struct bench_clock {
    uint64_t rate;   /* instructions per tick */
    uint64_t offset; /* instret at the start of tick t is offset + rate * t */
    bool steady;     /* the relation is linear */
};

static uint64_t clock_rate(void)
{
    struct bench_at first = sample_clock();
    struct bench_at last;
    uint64_t ticks;

    do {
        last = sample_clock();
    } while (last.time - first.time < CLOCK_SPAN);
    ticks = last.time - first.time;
    return (last.instret - first.instret + ticks / 2) / ticks;
}

/*
 * A sample taken within a tick is above the line by its distance from the start of the tick: the
 * lowest of many samples is at the start of a tick, and if the relation is linear none is higher
 * than one tick. (One instruction is executed between the two reads.)
 */
static struct bench_clock clock_calibrate(void)
{
    struct bench_clock clock = {.rate = clock_rate(), .offset = UINT64_MAX};
    uint64_t base = 0;
    uint64_t highest = 0;

    for (unsigned int i = 0; i < CLOCK_SAMPLES; i++) {
        struct bench_at at = sample_clock();
        uint64_t above = at.instret - clock.rate * at.time;

        base = i == 0 ? above - 2 * clock.rate : base; /* avoids a wrap in the comparisons */
        above -= base;
        clock.offset = above < clock.offset ? above : clock.offset;
        highest = above > highest ? above : highest;
    }
    clock.steady = highest - clock.offset <= clock.rate;
    clock.offset += base - 1;
    return clock;
}

static void timer_measure(struct bench_at (*take)(uint64_t deadline), const char *instructions,
                          const char *ticks)
{
    static uint64_t late[BENCH_TIMER_SAMPLES];
    static uint64_t late_ticks[BENCH_TIMER_SAMPLES];
    struct bench_clock clock = clock_calibrate();

    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_TIMER_SAMPLES; i++) {
        uint64_t deadline = sample_clock().time + TIMER_AHEAD;
        struct bench_at at = take(deadline);

        timer_set(UINT64_MAX);
        if (at.time < deadline) {
            bench_fail(ticks, at.time, deadline);
        }
        if (i >= BENCH_WARMUP) {
            late[i - BENCH_WARMUP] = at.instret - (clock.offset + clock.rate * deadline);
            late_ticks[i - BENCH_WARMUP] = at.time - deadline;
        }
    }
    if (clock.steady) {
        bench_report(instructions, "instructions", late, BENCH_TIMER_SAMPLES);
    } else {
        print("bench: instret and time do not run together (no -icount?): no %s\n", instructions);
    }
    bench_report(ticks, "ticks", late_ticks, BENCH_TIMER_SAMPLES);
}

void bench_run_timer(void)
{
    if (timer_is_direct()) {
        timer_measure(sample_timer_sstc, "riscv.timer.latency.sstc",
                      "riscv.timer.latency.sstc.ticks");
    }
    timer_measure(sample_timer_sbi, "riscv.timer.latency.sbi", "riscv.timer.latency.sbi.ticks");
}
