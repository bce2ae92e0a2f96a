/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM that is always busy and notes when it did not have the processor: it reads the count of
 * instructions repeatedly, and each two
 * reads that are far apart are the ends of a gap in which the hypervisor and other VMs ran. Its own
 * part of the processor is what
 * lies between the gaps. On the M5150 a clock counts as an instruction.
 *
 * Boot arguments:
 *   threshold=n  instructions from read to read that are no gap yet (default 64): more than the
 *                loop has, fewer than any exit
 *   quiet=n      prints the gaps and ends after so many instructions without a gap (default
 *                20,000,000)
 */
#include <stdbool.h>
#include <stdint.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

#define GAPS 2048U

int main(unsigned long hart, const void *fdt);

struct gap {
    uint64_t before, after; /* the last read and the first one */
};

static struct gap gaps[GAPS];

/* Notes gaps until `quiet` instructions pass without one; returns their number, GAPS if there were
 * too many. */
static unsigned int note(uint64_t threshold, uint64_t quiet)
{
    uint64_t last = machine_instructions(), since = last;
    unsigned int count = 1;

    gaps[0] = (struct gap){0, last};
    while (count < GAPS && last - since < quiet) {
        uint64_t now = machine_instructions();

        if (now - last > threshold) {
            gaps[count] = (struct gap){last, now};
            count++;
            since = now;
        }
        last = now;
    }
    return count;
}

int main(unsigned long hart, const void *fdt)
{
    unsigned int count;
    bool counts;

    (void)hart;
    uart_init();
    counts = machine_counts();
    count = counts ? note(fdt_bootarg_number(fdt, "threshold", 64),
                          fdt_bootarg_number(fdt, "quiet", 20000000))
                   : GAPS;
    if (count == GAPS) {
        print("BENCH failed: %s\n",
              counts ? "more gaps than there is memory for" : "no count of instructions");
        machine_shutdown(true);
    }
    for (unsigned int i = 0; i < count; i++) {
        print("GAP %llu %llu\n", (unsigned long long)gaps[i].before,
              (unsigned long long)gaps[i].after);
    }
    print("BENCH done\n");
    return 0;
}
