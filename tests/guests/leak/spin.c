/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spin: fills every register, runs a loop of random length, executes an event, runs another loop,
 * and reads every register. The hypervisor may preempt it anywhere. The code is generated for each
 * spin, because the register that counts the loops is random, too.
 */
#include <string.h>

#include "csr.h"
#include "leak.h"
#include "plic.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define LOOPS_SHORT 10000U
#define LOOPS_LONG 50000U
#define LONG_ONE_IN 4U
/* a deadline in some thousand years, with the tag in its highest byte */
#define FAR (~UINT64_C(0) >> 8)
#define SOON_TICKS 2000U
#define WAIT_TICKS 300U
#define PAST_TICKS 1000U
#define RAM_BASE 0x80000000UL
#define TICK_NS 100U
/* longer than a spin without preemption, at one instruction per nanosecond */
#define AWAY_TICKS 300U
#define SPIN_SETUP_NS 600U /* instructions around the loops */
#define SSTATUS_SUM (1UL << 18)
#define SSTATUS_MXR (1UL << 19)
#define SSTATUS_UXL_64 (2UL << 32)
#define SSTATUS_SD (1UL << 63)
#define SSTATUS_FREE (SSTATUS_SIE | SSTATUS_SPIE | SSTATUS_SPP | SSTATUS_SUM | SSTATUS_MXR)
#define ALL_IRQS (SIE_SOFT | SIE_TIMER | SIE_EXTERNAL)

enum {
    T0 = 5,
    A0 = 10,
    A1 = 11,
    A6 = 16,
    A7 = 17
};

/* When the timer fires. */
enum timing {
    TIMER_FAR,
    TIMER_SOON,
    TIMER_PAST
};

struct spin {
    struct leak_event event;
    enum timing timing;
    uint32_t counter; /* counter register */
    uint64_t loops[2];
    bool load_fp;
    uint64_t traps; /* count of traps before the spin */
};

/* --- the code --- */

/* Registers that the C code needs: ra, sp, gp, tp, s0-s11. */
static const uint8_t context[] = {1, 2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};

static void emit_registers(struct emitter *e, uint32_t (*insn)(uint32_t, uint32_t, uint32_t),
                           uint32_t at)
{
    for (uint32_t i = 1; i < 32; i++) {
        emit(e, insn(i, 0, at + 8 * i));
    }
}

static void emit_context(struct emitter *e, uint32_t (*insn)(uint32_t, uint32_t, uint32_t))
{
    for (unsigned i = 0; i < sizeof(context); i++) {
        emit(e, insn(context[i], 0, PAGE_CONTEXT + 8U * context[i]));
    }
}

static void emit_csr_write(struct emitter *e, const struct leak *l, uint32_t csr)
{
    if (l->masks[csr] != 0) {
        emit(e, insn_ld(T0, 0, PAGE_CSR_WANT + 8 * csr));
        emit(e, insn_csr(FUNCT3_CSRRW, 0, leak_csrs[csr], T0));
    }
}

static void emit_csr_read(struct emitter *e, const struct leak *l, uint32_t csr)
{
    if (l->masks[csr] != 0) {
        emit(e, insn_csr(FUNCT3_CSRRS, T0, leak_csrs[csr], 0));
        emit(e, insn_sd(T0, 0, PAGE_CSR_GOT + 8 * csr));
    }
}

static void emit_fp_on(struct emitter *e)
{
    emit(e, insn_i(OPCODE_ADDI, 0, T0, 0, 3)); /* sstatus.FS is bits 13 and 14 */
    emit(e, insn_i(OPCODE_ADDI, 1, T0, T0, 13));
    emit(e, insn_csr(FUNCT3_CSRRS, 0, leak_csrs[LEAK_SSTATUS], T0));
}

static void emit_fill(struct emitter *e, const struct leak *l, bool load_fp)
{
    for (uint32_t i = 0; i < LEAK_FCSR; i++) {
        emit_csr_write(e, l, i);
    }
    if (l->fp) {
        emit_fp_on(e);
        emit_csr_write(e, l, LEAK_FCSR);
    }
    for (uint32_t i = 0; load_fp && i < 32; i++) {
        emit(e, insn_i(OPCODE_LOAD_FP, FUNCT3_DOUBLE, i, 0, PAGE_F_WANT + 8 * i));
    }
    emit_csr_write(e, l, LEAK_SSTATUS);
    emit_registers(e, insn_ld, PAGE_X_WANT);
}

/* Two instructions per iteration. */
static void emit_loop(struct emitter *e, uint32_t counter)
{
    emit(e, insn_i(OPCODE_ADDI, 0, counter, counter, 0xfffU));
    emit(e, 0xfe001ee3U | counter << 15); /* bne counter, zero, -4 */
}

static void emit_store(struct emitter *e, const struct leak *l)
{
    emit_registers(e, insn_sd, PAGE_X_GOT);
    emit(e, insn_csr(FUNCT3_CSRRCI, T0, leak_csrs[LEAK_SSTATUS], SSTATUS_SIE));
    emit(e, insn_sd(T0, 0, PAGE_CSR_GOT + 8 * LEAK_SSTATUS));
    for (uint32_t i = 0; i < LEAK_FCSR; i++) {
        emit_csr_read(e, l, i);
    }
    if (l->fp) {
        emit_fp_on(e);
        emit_csr_read(e, l, LEAK_FCSR);
        for (uint32_t i = 0; i < 32; i++) {
            emit(e, insn_s(OPCODE_STORE_FP, FUNCT3_DOUBLE, 0, i, PAGE_F_GOT + 8 * i));
        }
    }
}

static void make_code(struct leak *l, const struct spin *s)
{
    struct emitter e = {l->code};

    emit_context(&e, insn_sd);
    emit_fill(&e, l, s->load_fp);
    emit_loop(&e, s->counter);
    emit(&e, s->event.instruction);
    emit(&e, insn_ld(s->counter, 0, PAGE_COUNT));
    emit_loop(&e, s->counter);
    emit_store(&e, l);
    emit_context(&e, insn_ld);
    emit(&e, INSN_RET);
    emit_done();
}

/* --- values before the spin --- */

/* A random register that no event uses. */
static uint32_t pick_counter(struct leak *l)
{
    uint32_t i;

    do {
        i = 1 + (uint32_t)random_below(&l->random, 31);
    } while (i == A0 || i == A1 || i == A6 || i == A7);
    return i;
}

static void want_fixed(uint64_t *x, const struct leak_event *event)
{
    x[A0] = event->a0;
    x[A1] = event->a1;
    x[A6] = event->a6;
    x[A7] = event->a7;
}

static void want_x(struct leak *l, struct spin *s)
{
    for (unsigned i = 1; i < 32; i++) {
        l->page.x_want[i] = leak_value(l);
    }
    if (s->event.fixed) {
        want_fixed(l->page.x_want, &s->event);
    }
    for (unsigned i = 0; i < 2; i++) {
        bool lengthy = random_below(&l->random, LONG_ONE_IN) == 0;

        s->loops[i] = 1 + random_below(&l->random, lengthy ? LOOPS_LONG : LOOPS_SHORT);
    }
    s->counter = pick_counter(l);
    l->page.x_want[s->counter] = s->loops[0];
    l->page.count = s->loops[1];
}

static void want_fp(struct leak *l, struct spin *s)
{
    s->load_fp = l->fp && (!l->fp_loaded || random_below(&l->random, 2) == 0);
    for (unsigned i = 0; s->load_fp && i < 32; i++) {
        l->page.f_want[i] = leak_value(l);
    }
    l->fp_loaded = l->fp_loaded || s->load_fp;
}

static uint64_t want_timer(struct leak *l, struct spin *s)
{
    uint64_t now = csr_read_time();

    s->timing = s->event.waits ? TIMER_SOON : (enum timing)random_below(&l->random, 3);
    switch (s->timing) {
    case TIMER_SOON:
        return now + random_below(&l->random, s->event.waits ? WAIT_TICKS : SOON_TICKS);
    case TIMER_PAST:
        return now - 1 - random_below(&l->random, PAST_TICKS);
    default:
        return leak_value(l);
    }
}

static uint64_t want_sstatus(struct leak *l, bool waits)
{
    uint64_t bits = random_next(&l->random) & SSTATUS_FREE & (waits ? ~SSTATUS_SIE : ~0UL);

    return l->fp ? bits | (random_next(&l->random) & SSTATUS_FS) : bits;
}

static uint64_t place_handler(struct leak *l)
{
    size_t size = (size_t)((const char *)leak_handler_end - (const char *)leak_handler);
    uint32_t *place = &l->handlers[random_below(&l->random, LEAK_HANDLERS - size / sizeof(*place))];

    memcpy(place, leak_handler, size);
    return (uintptr_t)place;
}

static void want_csrs(struct leak *l, struct spin *s)
{
    uint64_t *want = l->page.csr_want;

    for (unsigned i = 0; i < LEAK_CSRS; i++) {
        want[i] = leak_value(l) & l->masks[i];
    }
    want[LEAK_STVEC] = place_handler(l);
    want[LEAK_SIP] &= SIE_SOFT;
    want[LEAK_SATP] = leak_satp(l);
    want[LEAK_SIE] = (random_next(&l->random) & ALL_IRQS) | (s->event.waits ? SIE_TIMER : 0);
    want[LEAK_SSTATUS] = want_sstatus(l, s->event.waits);
    want[LEAK_STIMECMP] = want_timer(l, s);
    if (l->masks[LEAK_STIMECMP] == 0) {
        sbi_set_timer(want[LEAK_STIMECMP]);
    }
}

/*
 * Sets the UART's interrupt line at random. The transmitter must be empty, which takes time after a
 * report, and not be full again when the interrupt is enabled, which the output of other VMs can
 * cause.
 */
static void want_line(struct leak *l)
{
    if (l->devices) {
        uart_wait_empty();
        l->line = random_below(&l->random, 2) != 0;
        uart_write(UART_IER, l->line ? UART_IER_TX_EMPTY : 0);
        uart_wait_empty();
    }
}

/* --- expected values after the spin --- */

void leak_expect(struct leak *l, const char *what, uint64_t number, uint64_t want, uint64_t got)
{
    if (want == got) {
        return;
    }
    if (l->wrongs++ == 0) {
        l->first = (struct leak_wrong){what, number, want, got, l->spins};
    }
}

static void check_x(struct leak *l, const struct spin *s)
{
    for (unsigned i = 1; i < 32; i++) {
        uint64_t want = i == s->counter ? 0 : l->page.x_want[i];
        unsigned n = i - A0;

        if (i >= A0 && i <= A1 && s->event.changes[n]) {
            want = s->event.known[n] ? s->event.after[n] : l->page.x_got[i];
        }
        leak_expect(l, "x", i, want, l->page.x_got[i]);
    }
}

static void check_fp(struct leak *l)
{
    for (unsigned i = 0; l->fp && l->fp_loaded && i < 32; i++) {
        leak_expect(l, "f", i, l->page.f_want[i], l->page.f_got[i]);
    }
}

static uint64_t after_sstatus(const struct leak *l, bool trapped)
{
    uint64_t want = l->page.csr_want[LEAK_SSTATUS] | SSTATUS_UXL_64;

    want |= (want & SSTATUS_FS) == SSTATUS_FS_DIRTY ? SSTATUS_SD : 0;
    return trapped ? (want & ~SSTATUS_SPP) | SSTATUS_SPIE : want;
}

static bool timer_is_known(const struct leak *l, const struct spin *s)
{
    bool due = s->timing == TIMER_PAST && l->masks[LEAK_STIMECMP] != 0;

    return !l->real && (s->timing == TIMER_FAR || due);
}

/*
 * Checks the interrupts whose pending state is known. sip must not show one that is not pending.
 * QEMU 7.2 does not show all pending interrupts in sip, so these are checked by the interrupts that
 * were taken.
 */
static void check_interrupts(struct leak *l, const struct spin *s)
{
    const struct leak_page *p = &l->page;
    uint64_t known = ~(SIE_SOFT | SIE_TIMER), pending = l->line ? SIE_EXTERNAL : 0;
    uint64_t taken = (p->csr_want[LEAK_SSTATUS] & SSTATUS_SIE) != 0 ? p->csr_want[LEAK_SIE] : 0;

    if (l->quiet && !s->event.soft) {
        known |= SIE_SOFT;
        pending |= p->csr_want[LEAK_SIP];
    }
    if (timer_is_known(l, s)) {
        known |= SIE_TIMER;
        pending |= s->timing == TIMER_PAST ? SIE_TIMER : 0;
    }
    leak_expect(l, "sip", known, 0, p->csr_got[LEAK_SIP] & known & ~pending);
    leak_expect(l, "interrupts", known, pending & taken, p->fired & known);
}

/* Checks the last trap: the exception of the event, or an enabled interrupt. */
static void check_trap(struct leak *l, const struct spin *s)
{
    const struct leak_page *p = &l->page;
    bool interrupt = (p->cause & CAUSE_INTERRUPT) != 0;
    uint64_t expected = s->event.cause != 0 ? 1 : 0;
    uint64_t fired = (uint64_t)((p->fired & SIE_SOFT) != 0) + ((p->fired & SIE_TIMER) != 0) +
                     ((p->fired & SIE_EXTERNAL) != 0);

    leak_expect(l, "traps", 0, s->traps + expected + fired, p->traps);
    if (p->traps == s->traps) {
        return;
    }
    leak_expect(l, "cause", 0, interrupt ? p->fired & 1UL << (p->cause & 63U) : s->event.cause,
                interrupt ? 1UL << (p->cause & 63U) : p->cause);
    leak_expect(l, "tval", 0, interrupt ? 0 : s->event.tval, p->tval);
}

static void check_csrs(struct leak *l, const struct spin *s)
{
    const struct leak_page *p = &l->page;
    bool trapped = p->traps != s->traps;
    uint64_t want[LEAK_CSRS];

    memcpy(want, p->csr_want, sizeof(want));
    want[LEAK_SIE] &= ~p->fired;
    want[LEAK_SSTATUS] = after_sstatus(l, trapped);
    if (trapped) {
        want[LEAK_SEPC] = p->epc;
        want[LEAK_SCAUSE] = p->cause;
        want[LEAK_STVAL] = p->tval;
    }
    for (unsigned i = 0; i < LEAK_CSRS; i++) {
        if (i != LEAK_SIP && l->masks[i] != 0 && (i != LEAK_FCSR || l->fp)) {
            leak_expect(l, "csr", leak_csrs[i], want[i], p->csr_got[i]);
        }
    }
}

static void check_message(struct leak *l, const struct spin *s)
{
    uint64_t head = l->page.x_got[A1];

    if (!s->event.takes || l->page.x_got[A0] != 0 || l->from == LEAK_NOBODY) {
        return;
    }
    leak_expect(l, "sender", 0, l->from, head >> 16 & 0xffU);
    for (unsigned i = 0; i < LEAK_MESSAGE; i++) {
        leak_expect(l, "message", i, 0x80U | l->from << 3, l->inbox[i] >> 56 & ~7UL);
    }
}

/*
 * Checked page `n`. Page 0 may be the first page of RAM, which is unused: memory of another VM ends
 * nearby.
 */
static uint64_t *page_of(struct leak *l, unsigned n)
{
    return n == 0 && l->devices ? (uint64_t *)RAM_BASE : l->memory[n];
}

/* Checks one page of memory and fills it with new contents. */
static void check_memory(struct leak *l)
{
    unsigned n = (unsigned)random_below(&l->random, LEAK_PAGES);
    uint64_t *page = page_of(l, n);
    uint64_t key = leak_value(l);

    for (unsigned i = 0; i < LEAK_WORDS; i++) {
        leak_expect(l, "memory", (uintptr_t)&page[i], l->keys[n] * i, page[i]);
        page[i] = key * i;
    }
    l->keys[n] = key;
}

/* --- the spin --- */

static void count(struct leak *l, const struct spin *s, uint64_t ticks)
{
    uint64_t loops = s->loops[0] + s->loops[1];

    l->spins++;
    l->traps += l->page.traps - s->traps;
    l->away += ticks > (loops * 2 + SPIN_SETUP_NS) / TICK_NS + AWAY_TICKS ? 1 : 0;
}

void leak_spin(struct leak *l)
{
    struct spin s = {.event = leak_event(l)};
    uint64_t start;

    want_x(l, &s);
    want_fp(l, &s);
    want_line(l);
    want_csrs(l, &s);
    make_code(l, &s);
    s.traps = l->page.traps;
    l->page.fired = 0;
    start = csr_read_time();
    ((void (*)(void))(uintptr_t)l->code)();
    csr_write_sie(0);
    csr_write_stvec((uintptr_t)trap_entry);
    count(l, &s, csr_read_time() - start);
    check_x(l, &s);
    check_fp(l);
    check_trap(l, &s);
    check_csrs(l, &s);
    check_interrupts(l, &s);
    check_message(l, &s);
    check_memory(l);
}
