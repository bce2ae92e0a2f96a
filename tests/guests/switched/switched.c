/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM that tests that its state survives switches between VCPUs, and shows none of another VM's;
 * and that registers and rare accesses have the results that they have without a hypervisor, where
 * the same tests pass.
 *
 * Boot arguments:
 *   disturb=1  changes the same state without end instead, for a VM with the tests
 */
#include "switched.h"

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

bool switched_native;

static const struct {
    const char *name;
    void (*run)(struct result *r);
} tests[] = {
    {"link_is_cleared", link_is_cleared},
    {"lladdr_is_own", lladdr_is_own},
    {"probe_misses", probe_misses},
    {"probe_hits", probe_hits},
    {"inhibits_are_kept", inhibits_are_kept},
    {"mmu_registers_are_kept", mmu_registers_are_kept},
    {"registers_are_kept", registers_are_kept},
    {"exception_registers_are_kept", exception_registers_are_kept},
    {"absent_registers_hold_nothing", absent_registers_hold_nothing},
    {"multiplier_is_kept", multiplier_is_kept},
    {"features_are_true", features_are_true},
    {"count_stops", count_stops},
    {"written_count_is_kept", written_count_is_kept},
    {"console_partial_loads", console_partial_loads},
    {"console_partial_stores", console_partial_stores},
    {"console_load_at_own_offset", console_load_at_own_offset},
    {"caches_nowhere", caches_nowhere},
};

#define LINES 4U
#define LINE_WORDS 16U

/* Sets LLbit, and Index.P both ways; LL at several addresses; address errors; stops Count. */
static void disturb(void)
{
    static volatile uint32_t words[LINES * LINE_WORDS] __attribute__((aligned(64)));
    uint32_t ebase = cp0_read_ebase();

    print("switched: disturbs\n");
    mmu_init();
    for (uint32_t n = 0;; n++) {
        uint32_t value;

        cp0_write_ebase(ebase);
        registers_fault(n << 8);
        mmu_write(0x9e3779b9U * n);
        __asm__ volatile("ll %0, 0(%1)"
                         : "=r"(value)
                         : "r"(&words[n % LINES * LINE_WORDS])
                         : "memory");
        registers_write(0x55555555U ^ n << 13);
        cp0_write_entryhi(n % 3 == 0 ? KNOWN_PAGE : UNKNOWN_PAGE);
        __asm__ volatile("tlbp\n\tehb" : : : "memory");
        cp0_write_cause(CAUSE_IV | CAUSE_DC);
    }
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart;
    uart_init();
    switched_native = fdt == NULL;
    if (!switched_native && fdt_bootarg_number(fdt, "disturb", 0) != 0) {
        disturb();
    }
    for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        struct result r = {.tried = 0};

        tests[i].run(&r);
        print("switched: %s: %u tried, %u wrong, first 0x%x\n", tests[i].name, r.tried, r.wrong,
              r.first);
    }
    print("switched: done\n");
    return 0;
}
