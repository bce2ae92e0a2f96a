/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that VMs write, and the keyboard. */
#include "atomic.h"
#include "component.h"
#include "console_parts.h"
#include "platform.h"
#include "sched.h"
#include "system.h"
#include "vuart.h"

#define SEND_ON_WRITE 2U     /* characters sent per write of a VM */
#define SEND_ON_INTERRUPT 3U /* characters sent per interrupt of the UART */

static struct {
    struct source vms[SYSIMAGE_MAX_VMS]; /* by VM number */
    struct source *first_due;            /* queue of sources with a line to be shown, or NULL */
    struct source *last_due;             /* its tail; valid only if there is a head */
    struct vm *focus;                    /* VM with the keyboard */
    struct vm *typed_to;                 /* instead of `focus`, for a program; or NULL */
    enum console_mode mode;
    ulong dropped;          /* lost characters of VMs without the terminal */
    bool escape;            /* the escape key was typed */
    bool (*divert)(char c); /* gets typed characters, or NULL; on the UART's CPU, as `escape` */
    bool flush_armed;
    bool flush_again; /* this round of console_flush() leaves unfinished lines */
    /* the terminal was busy when the round started, so VMs may wait within a line */
    bool flush_busy;
    unsigned flush_at; /* next VM of the round */
    bool notify;       /* VMs may have room now, or an operator may have work */
    unsigned notified; /* the VM that was notified last */
    bool took;         /* the last UART interrupt read a character; used by the UART's CPU only */
    struct timer flush;
} console; /* owner: this file; guarded by console_lock */

struct source *sources(void)
{
    return console.vms;
}

struct source *source_focused(void)
{
    return console.focus != NULL ? &console.vms[console.focus->id] : NULL;
}

struct source *source_first_due(void)
{
    return console.first_due;
}

static struct vm *vm_of(const struct source *s)
{
    return &hyp.vms[s - console.vms];
}

/* Appends the source to the queue of lines to be shown. */
static void source_wait(struct source *s)
{
    struct source **end = console.first_due != NULL ? &console.last_due->next : &console.first_due;

    if (s->due == 0) {
        s->due = log_order();
        s->next = NULL;
        *end = s;
        console.last_due = s;
    }
}

void source_finish(struct source *s, bool cut)
{
    source_wait(s);
    s->full = true;
    s->cut = cut;
    atomic_store_relaxed(&vm_of(s)->console_busy, true);
}

/* Ends an escape sequence or a carriage return. */
static void source_end_sequence(struct source *s)
{
    s->filter = (struct filter){0};
    s->returned = false;
}

/* A carriage return without a newline restarts the line. */
static void start_over(struct source *s)
{
    s->restart |= s->len > 0;
    s->len = 0;
    s->column = 0;
}

/* Adds the held characters and `c` to the line. */
static void source_show(struct source *s, char c)
{
    bool sequence = s->filter.held > 0 && s->line[s->len] == FILTER_ESC;
    unsigned cell = s->start + s->column;

    s->line[s->len + s->filter.held] = c;
    s->len += s->filter.held + 1U;
    s->coloured |= sequence;
    if (!sequence) {
        cell = (c == '\t' ? cell | 7U : cell) + 1U - s->start; /* a tab stop every 8 */
        s->column = (uint8_t)(cell < CONSOLE_CELLS ? cell : CONSOLE_CELLS);
    }
}

/* Moves the cursor within the line. The terminal gets an absolute column: its width and the width
 * of characters are unknown, and the cursor must not leave the VM's part of the line. */
static void source_move(struct source *s, bool left)
{
    unsigned cells = s->filter.count > 0 ? s->filter.count : 1U;
    unsigned room = left ? s->column : CONSOLE_CELLS - s->column;

    cells = cells < room ? cells : room;
    s->column = (uint8_t)(left ? s->column - cells : s->column + cells);
    s->line[s->len++] = CONSOLE_MOVE;
    s->line[s->len++] = (char)s->column;
}

static void source_append(struct source *s, char c)
{
    enum filter_verdict verdict = filter_next(&s->filter, &c);

    if (verdict == FILTER_HOLD) {
        s->line[s->len + s->filter.held++] = c;
        return;
    }
    if (verdict == FILTER_PASS) {
        source_show(s, c);
    } else if (verdict == FILTER_LEFT || verdict == FILTER_RIGHT) {
        source_move(s, verdict == FILTER_LEFT);
    }
    s->filter.held = 0;
    if (s->len >= CONSOLE_LINE) {
        source_finish(s, true);
    }
}

/* Adds a character in CONSOLE_LINES. False if the line must be shown before the character can be
 * added. */
static bool source_line(struct source *s, char c)
{
    bool returned = s->returned;

    s->touched = true;
    if (c == '\n' || c == '\r') {
        source_end_sequence(s);
        s->returned = c == '\r';
        if (c == '\n') {
            source_finish(s, false);
        }
        return true;
    }
    s->returned = false;
    if (returned) {
        start_over(s);
    }
    if (filter_begins(c) && s->filter.held == 0 && s->len > CONSOLE_LINE - FILTER_LONGEST) {
        source_finish(s, true);
        return false;
    }
    source_append(s, c);
    return true;
}

/* Adds a byte in the other modes, unfiltered. */
static void source_byte(struct source *s, char c)
{
    if (s->mode == CONSOLE_ALONE && vm_of(s) != console.focus) {
        console.dropped++;
        return;
    }
    s->line[s->len++] = c;
    source_wait(s);
    s->cut = false;
    if (s->len == CONSOLE_LINE) {
        source_finish(s, false);
    }
}

/* Adds a character to the source. False if there is no room. */
static bool source_take(struct source *s, char c)
{
    if (s->full) {
        return false;
    }
    if (s->len == 0) {
        s->mode = (uint8_t)console.mode;
    }
    if (s->mode == CONSOLE_LINES) {
        return source_line(s, c);
    }
    source_byte(s, c);
    return true;
}

/* As source_take(), for a new character, which must not overtake characters in the FIFO. */
static bool source_putc(struct source *s, char c)
{
    return s->queued == 0 && source_take(s, c);
}

/* Lets the VM write again once its FIFO is empty and its line is not full. */
static void source_open(const struct source *s)
{
    if (s->queued == 0 && !s->full) {
        atomic_store_seq(&vm_of(s)->console_busy, false);
        console.notify |= s->wants_room;
    }
}

bool source_refill(struct source *s)
{
    if (s->queued == 0 || !source_take(s, s->fifo[s->first])) {
        return false;
    }
    s->first = (s->first + 1U) % CONSOLE_FIFO;
    s->queued--;
    if (s->queued == 0) {
        source_open(s);
    }
    return true;
}

void source_clear(struct source *s)
{
    for (unsigned i = 0; i < s->filter.held; i++) { /* the next line continues a cut sequence */
        s->line[i] = s->line[s->len + i];
    }
    s->len = 0;
    s->column = 0;
    s->due = 0;
    console.first_due = s->next;
    s->full = false;
    s->coloured = false;
    s->restart = false;
    source_open(s);
}

static void flush_due(struct timer *t)
{
    (void)t;
    console_flush();
}

static void flush_arm(unsigned ms)
{
    console.flush_armed = true;
    spin_lock(&sched_lock);
    timer_arm(&console.flush, arch_time() + ms * 1000U * hyp.us);
    spin_unlock(&sched_lock);
}

/* Arms the flush timer for an unfinished line that is not shown as it grows. */
static void flush_later(void)
{
    console.flush_again = true;
    if (!console.flush_armed) {
        flush_arm(CONSOLE_FLUSH_MS);
    }
}

/* After characters of a VM were added: sends some output, and arms the flush timer for a line that
 * is not shown as it grows. A critical section of its own, so that CPUs waiting for the lock get it
 * in between. */
static void written(const struct vm *vm, const struct source *s)
{
    spin_lock(&console_lock);
    if (s->len > 0 && s->due == 0 && vm != console.focus) {
        flush_later();
    }
    out_send(SEND_ON_WRITE, &console.notify);
    spin_unlock(&console_lock);
}

unsigned console_write(struct vm *vm, const char *text, unsigned size)
{
    struct source *s = &console.vms[vm->id];
    unsigned done = 0;

    spin_lock(&console_lock);
    while (done < size && done < CONSOLE_WRITE && source_putc(s, text[done])) {
        done++;
    }
    spin_unlock(&console_lock);
    written(vm, s);
    return done;
}

void console_putc(struct vm *vm, char c)
{
    struct source *s = &console.vms[vm->id];

    spin_lock(&console_lock);
    if (!source_putc(s, c) && s->queued < CONSOLE_FIFO) {
        s->fifo[(s->first + s->queued++) % CONSOLE_FIFO] = c;
    }
    spin_unlock(&console_lock);
    written(vm, s);
}

/* Whether the last character that the VM wrote is within a line. */
static bool source_unended(const struct source *s)
{
    if (s->queued > 0) {
        return s->fifo[(s->first + s->queued - 1U) % CONSOLE_FIFO] != '\n';
    }
    return s->filter.state != 0 || s->cut || (s->len > 0 && s->due == 0);
}

void console_end(struct vm *vm)
{
    struct source *s = &console.vms[vm->id];

    if (source_unended(s)) {
        console_putc(vm, '\n');
    }
}

bool console_ready_slow(struct vm *vm)
{
    /* Request first, then check again: otherwise room freed in between would go unnoticed. */
    atomic_store_seq(&console.vms[vm->id].wants_room, true);
    return !atomic_load_seq(&vm->console_busy);
}

/* The round's next unfinished line that is not shown as it grows, or NULL. */
static struct source *flush_next(void)
{
    while (console.flush_at < hyp.nvms) {
        struct source *s = &console.vms[console.flush_at];

        console.flush_at++;
        if (s->len > 0 && s->due == 0 && vm_of(s) != console.focus) {
            return s;
        }
        s->touched = false;
    }
    return NULL;
}

/* Shows an unfinished line that has not been written to since the last round. */
static void flush_line(struct source *s)
{
    if (s->touched || console.flush_busy) {
        console.flush_again = true;
    } else {
        source_finish(s, true);
        platform_uart_notify_tx(true);
    }
    s->touched = false;
}

/* Ends a round. */
static void flush_end(void)
{
    console.flush_at = 0;
    console.flush_armed = false;
    if (console.flush_again) {
        console.flush_again = false;
        flush_arm(CONSOLE_FLUSH_MS);
    }
}

/* Shows one line per call, because each VM may have one. The timer interrupts at once for the
 * next. */
void console_flush(void)
{
    struct source *s;

    spin_lock(&console_lock);
    if (console.flush_at == 0) {
        console.flush_busy = out_busy();
    }
    s = flush_next();
    if (s != NULL) {
        flush_line(s);
        flush_arm(0);
    } else {
        flush_end();
    }
    spin_unlock(&console_lock);
}

bool console_send(const char *text, unsigned size)
{
    bool room;

    spin_lock(&console_lock);
    room = out_raw(text, size);
    platform_uart_notify_tx(true);
    spin_unlock(&console_lock);
    return room;
}

void console_divert(bool (*take)(char c))
{
    console.divert = take;
}

/* Ends the line of the old mode. Its rest is shown in the new mode, or lost if one VM gets the
 * terminal alone. Nothing more is shown of a VM that had the terminal alone. */
static void source_change(struct source *s, enum console_mode mode)
{
    bool lost = mode == CONSOLE_ALONE;

    source_end_sequence(s);
    if ((s->len > 0 && !s->full) || (s->cut && lost)) {
        source_finish(s, s->mode == CONSOLE_LINES && !lost);
    }
    if (s->mode == CONSOLE_ALONE) {
        s->len = 0;
    }
}

/* Caller holds console_lock. */
static void change_mode(enum console_mode mode)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        source_change(&console.vms[i], mode);
    }
    console.mode = mode;
    console.typed_to = NULL;
    log_hold(mode == CONSOLE_ALONE);
    platform_uart_notify_tx(true);
}

void console_set_mode(enum console_mode mode)
{
    spin_lock(&console_lock);
    change_mode(mode);
    spin_unlock(&console_lock);
}

ulong console_end_alone(const char *text, unsigned size)
{
    ulong lost = CONSOLE_NOT_ALONE;

    spin_lock(&console_lock);
    if (console.mode == CONSOLE_ALONE) {
        (void)out_raw(text, size);
        change_mode(CONSOLE_LINES);
        lost = console.dropped;
        console.dropped = 0;
    }
    spin_unlock(&console_lock);
    return lost;
}

void console_type_to(struct vm *vm)
{
    console.typed_to = vm;
}

void console_drain(void)
{
    spin_lock(&console_lock);
    log_hold(false);
    out_drain(CONSOLE_DRAIN_TRIES);
    spin_unlock(&console_lock);
}

struct vm *console_focus(void)
{
    return console.focus;
}

void console_set_focus(struct vm *vm)
{
    const struct source *before = source_focused();

    spin_lock(&console_lock);
    console.focus = vm;
    if (before != NULL && before->len > 0) {
        flush_later(); /* the line was shown as it grew until now */
    }
    platform_uart_notify_tx(true);
    spin_unlock(&console_lock);
}

/* Diverts input to the component that has the key; other keys are commands. */
static void console_command(char key)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->console != NULL && c->console->key.take != NULL && c->console->key.key == key) {
            console_divert(c->console->key.take);
            return;
        }
    }
    FOR_EACH_COMPONENT(c)
    {
        if (c->console != NULL && c->console->commands.command != NULL) {
            c->console->commands.command(key);
        }
    }
}

static bool console_diverted(char c)
{
    if (!console.divert(c) || c == CONSOLE_ESCAPE) {
        console.divert = NULL;
    }
    return c != CONSOLE_ESCAPE;
}

/* A typed character for a VM. */
static void typed(char c)
{
    struct vm *vm = console.typed_to != NULL ? console.typed_to : console.focus;

    if (vm != NULL) {
        vuart_receive(vm, c);
    }
}

static void console_typed(char c)
{
    if (console.divert != NULL && console_diverted(c)) {
        return;
    }
    if (console.escape && c != CONSOLE_ESCAPE) {
        console.escape = false;
        console_command(c);
    } else if (c == CONSOLE_ESCAPE && !console.escape) {
        console.escape = true;
    } else {
        console.escape = false; /* typed twice: one for the guest */
        typed(c);
    }
}

/* Takes the next VM that waited for room and has it, or NULL. */
static struct vm *take_waiting(void)
{
    bool found = false;

    for (unsigned n = 0; n < hyp.nvms && !found; n++) {
        console.notified = console.notified + 1U < hyp.nvms ? console.notified + 1U : 0;
        found = console.vms[console.notified].wants_room && !hyp.vms[console.notified].console_busy;
    }
    if (!found) {
        return NULL;
    }
    console.vms[console.notified].wants_room = false;
    return &hyp.vms[console.notified];
}

/* Reads at most one character. True if there was one. */
static bool take_typed(void)
{
    int c = platform_uart_get();

    if (c >= 0) {
        console_typed((char)c);
    }
    return c >= 0;
}

/* One step of one operator that has work. True if there was one. */
static bool step_operators(void)
{
    bool stepped = false;

    FOR_EACH_COMPONENT(c)
    {
        const struct console_operator *o = c->console != NULL ? &c->console->commands : NULL;

        if (o != NULL && o->at_work != NULL && *o->at_work && !stepped) {
            stepped = o->step(log_waiting());
        }
    }
    return stepped;
}

/* Does one short piece of work per interrupt: the UART interrupts again while there is more. Typed
 * characters do not starve output, because every second interrupt skips them. Input may give an
 * operator work, and output may make room for VMs: `notify` remembers both for the next interrupt.
 * An interrupt notifies one VM, because it may have to wait for the lock of each. */
void console_interrupt(void)
{
    bool typed = false, done, notify;
    struct vm *vm;

    if (!console.took) {
        typed = take_typed();
    }
    done = typed;
    if (!typed) {
        done = step_operators();
    }
    console.took = typed;
    spin_lock(&console_lock);
    notify = console.notify && !done;
    vm = notify ? take_waiting() : NULL;
    console.notify = done || vm != NULL;
    if (!done && !notify) {
        out_send(SEND_ON_INTERRUPT, &console.notify);
    }
    platform_uart_again(console.notify);
    spin_unlock(&console_lock);
    if (vm != NULL) {
        vuart_tx_ready(vm);
    }
}

/* Width of a name as out.c prints it: at least 8 cells, and two more. */
static unsigned name_cells(const char *name)
{
    unsigned n = 0;

    while (name[n] != '\0') {
        n++;
    }
    return (n > 8 ? n : 8U) + 2U;
}

void console_init(void)
{
    timer_init(&console.flush, flush_due);
    console.flush.unlocked = true; /* console_lock comes before sched_lock */
    console.focus = system_keyboard();
    for (unsigned i = 0; i < hyp.nvms; i++) {
        const struct sysimage_vm *config = hyp.vms[i].config;

        console.vms[i].name = config->name;
        console.vms[i].colour = config->colour;
        console.vms[i].start = (uint8_t)name_cells(config->name);
    }
}
