/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the figures and the failures of the benchmark's guest (bench.h). Owns no state. */
#include "bench.h"
#include "print.h"
#include "sbi.h"

static void bench_sort(uint64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = values[i];
        size_t at = i;

        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

void bench_report(const char *metric, const char *unit, uint64_t *samples, size_t count)
{
    uint64_t sum = 0;

    bench_sort(samples, count);
    for (size_t i = 0; i < count; i++) {
        sum += samples[i];
    }
    print("BENCH "
          "{\"metric\":\"%s\",\"unit\":\"%s\",\"min\":%lu,\"median\":%lu,\"avg\":%lu,\"max\":%lu,"
          "\"n\":%lu}\n",
          metric, unit, samples[0], samples[count / 2], (sum + count / 2) / count,
          samples[count - 1], count);
}

_Noreturn void bench_fail(const char *metric, uint64_t value, uint64_t expected)
{
    print("BENCH failed: %s: got 0x%lx, expected 0x%lx\n", metric, value, expected);
    sbi_shutdown(SBI_RESET_SYSTEM_FAILURE);
}
