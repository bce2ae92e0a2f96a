/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot argument: seed=<number>. Two harts make calls, and so do real-time apps once a call has
 * created them. Their progress is kept in the log, from which they continue after a restart: a call
 * that ends the attacker is not repeated.
 */
#include "fuzz.h"

#include <stdbool.h>

#include "csr.h"
#include "emit.h"
#include "fdt.h"
#include "hcall.h"
#include "print.h"
#include "rt.h"
#include "sbi.h"
#include "timer.h"
#include "uart.h"

#define PET_EVERY 16U
#define WAIT_TICKS 500U /* limit of a call that waits */

static struct fuzz_call calls[FUZZ_SLOTS];
static uint64_t seed;
static struct fuzz_log *const log = (struct fuzz_log *)FUZZ_LOG;

int main(unsigned long hart, const void *fdt);
_Noreturn void fuzz_stream(unsigned slot);

static uint64_t read_seed(const void *fdt)
{
    char text[24] = "1";
    uint64_t value = 0;

    fdt_bootarg(fdt, "seed", text, sizeof(text));
    for (const char *c = text; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (uint64_t)(*c - '0');
    }
    return value;
}

static void note_before(struct fuzz_slot *slot, const struct fuzz_call *call)
{
    slot->next++;
    slot->kind = call->kind;
    slot->instruction = call->code[0];
    for (unsigned i = 0; i < 8; i++) {
        slot->a[i] = call->a[i];
    }
    slot->made[call->kind]++;
}

static void note_after(struct fuzz_slot *slot, const struct fuzz_call *call)
{
    bool called = call->kind == FUZZ_HCALL || call->kind == FUZZ_SBI;

    if (call->cause == FUZZ_NO_TRAP && (!called || (int64_t)call->a[0] >= 0)) {
        slot->accepted[call->kind]++;
    }
}

/* Makes one call; a timer ends calls that wait. */
static void fuzz_once(unsigned number)
{
    struct fuzz_slot *slot = &log->slots[number];
    struct fuzz_call *call = &calls[number];

    fuzz_make(call, seed, number, slot->next);
    note_before(slot, call);
    timer_set(csr_read_time() + WAIT_TICKS);
    csr_write_sie(SIE_TIMER);
    emit_done();
    fuzz_run(call);
    note_after(slot, call);
}

/* Hart or app `slot` makes calls without end. */
_Noreturn void fuzz_stream(unsigned slot)
{
    for (;;) {
        fuzz_once(slot);
        if (slot >= FUZZ_HARTS) {
            rt_end_job();
        } else if (log->slots[slot].next % PET_EVERY == 0) {
            (void)hcall_watchdog_pet();
            (void)sbi_hart_start(1 - slot, (uintptr_t)fuzz_hart_entry, 0);
        }
    }
}

int main(unsigned long hart, const void *fdt)
{
    seed = read_seed(fdt);
    timer_init();
    uart_init();
    print("fuzz: seed %lu, life %lu\n", seed, ++log->lives);
    (void)sbi_hart_start(1, (uintptr_t)fuzz_hart_entry, 0);
    fuzz_stream((unsigned)hart);
}
