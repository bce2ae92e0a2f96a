/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that hangs and is restarted by its watchdog, until the clock reaches boot argument
 * `until` (milliseconds); then it shuts down. It hangs in a single instruction at an address
 * outside the hypervisor's code, so that a plugin of QEMU sees the last instruction before each
 * restart.
 */
#include "bench.h"
#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "print.h"
#include "sbi.h"

/* known to tools/tessera/bench/collect.py; above the image, below the device tree */
#define HANG_AT 0x80380000UL
#define HANG_INSTRUCTION 0x6fU /* j . */

void bench_run_hang(const void *fdt)
{
    uint32_t *place = (uint32_t *)HANG_AT; /* NOLINT(performance-no-int-to-ptr): unused memory */
    uint64_t until = fdt_bootarg_number(fdt, "until", 0);

    if (csr_read_time() < until * (PLATFORM_TIMEBASE_HZ / 1000U)) {
        *place = HANG_INSTRUCTION;
        __asm__ volatile("fence.i\n\tjr %0" : : "r"(place) : "memory");
    }
    print("BENCH done\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}
