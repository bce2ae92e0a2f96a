/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot arguments: role=<spin, scan or restart>, vm=<own id>, harts=<n>, fp=<0, 1>, seed=<n>, to=<VM
 * that this VM may send to>, from=<VM that may send to this VM>, noisy=<1: a VM with unknown
 * messages may send to this VM>, every=<spins between reports>, log=<1: report also in the memory
 * shared with tests/guests/fuzz>, real=<1: real time; the timer interrupt is not checked>.
 */
#include "leak.h"

#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "fuzz_log.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define HARTS 2U
#define STACK 8192U

static struct leak leaks[HARTS];
static uint8_t stack[STACK] __attribute__((aligned(16)));
static uint64_t harts, every, logged;

int main(unsigned long hart, const void *fdt);

static void prepare(struct leak *l, uint64_t hart, const void *fdt)
{
    l->hart = hart;
    l->vm = fdt_bootarg_number(fdt, "vm", 0);
    l->fp = fdt_bootarg_number(fdt, "fp", 0) != 0;
    l->send_to = fdt_bootarg_number(fdt, "to", LEAK_NOBODY);
    l->from = fdt_bootarg_number(fdt, "from", LEAK_NOBODY);
    l->quiet = l->from == LEAK_NOBODY && harts == 1 && fdt_bootarg_number(fdt, "noisy", 0) == 0;
    l->devices = hart == 0;
    l->real = fdt_bootarg_number(fdt, "real", 0) != 0;
    l->tag = 0x80U | l->vm << 3 | hart;
    l->random = random_from(fdt_bootarg_number(fdt, "seed", 1) << 8 | l->tag);
}

static void report(const struct leak *l)
{
    const struct leak_wrong *w = &l->first;

    if (w->what != NULL) {
        print("leak: WRONG on hart %lu, spin %lu: %s 0x%lx: want 0x%lx, got 0x%lx\n", l->hart,
              w->spin, w->what, w->number, w->want, w->got);
    }
}

static void report_all(void)
{
    uint64_t spins = 0, away = 0, traps = 0, wrongs = 0;

    for (unsigned i = 0; i < harts; i++) {
        spins += leaks[i].spins;
        away += leaks[i].away;
        traps += leaks[i].traps;
        wrongs += leaks[i].wrongs;
    }
    print("leak: %lu spins, %lu away, %lu traps, %lu wrong\n", spins, away, traps, wrongs);
    for (unsigned i = 0; i < harts; i++) {
        report(&leaks[i]);
    }
    while ((uart_read(UART_LSR) & UART_LSR_TX_EMPTY) == 0) {
    }
}

static void note(const struct leak *l)
{
    struct fuzz_log *log = (struct fuzz_log *)FUZZ_LOG;

    if (logged != 0) {
        log->spins = l->spins;
        log->wrongs = l->wrongs;
    }
}

static void get_ready(struct leak *l)
{
    leak_learn(l);
    if (!l->fp) {
        csr_clear_sstatus(SSTATUS_FS);
    }
    leak_translate(l);
}

static void spin(struct leak *l)
{
    uint64_t told = 0;

    for (;;) {
        leak_spin(l);
        note(l);
        if (l->devices && (l->spins % every == 0 || (told == 0 && l->wrongs != 0))) {
            told = l->wrongs;
            report_all();
        }
    }
}

static void other(unsigned long hart, void *argument)
{
    (void)hart;
    get_ready(argument);
    spin(argument);
}

/*
 * Called when this hart needs the SDK's exception handler no longer, because the other hart uses it
 * now.
 */

static void start_other(void)
{
    static struct hart_boot boot = {
        .stack_top = stack + STACK, .function = other, .argument = &leaks[1]};

    if (harts > 1) {
        (void)sbi_hart_start(1, (unsigned long)hart_entry, (unsigned long)&boot);
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[16] = "spin";

    harts = fdt_bootarg_number(fdt, "harts", 1);
    every = fdt_bootarg_number(fdt, "every", 500);
    logged = fdt_bootarg_number(fdt, "log", 0);
    fdt_bootarg(fdt, "role", role, sizeof(role));
    for (unsigned i = 0; i < harts; i++) {
        prepare(&leaks[i], i, fdt);
    }
    if (strcmp(role, "restart") == 0) {
        leak_restart(&leaks[hart], fdt);
    }
    uart_init();
    timer_init();
    if (strcmp(role, "scan") == 0) {
        print("leak: %u CSRs that are not known\n", leak_scan(&leaks[hart]));
        return 0;
    }
    plic_open(plic_context(hart), PLATFORM_UART_IRQ);
    get_ready(&leaks[hart]);
    start_other();
    spin(&leaks[hart]);
    return 0;
}
