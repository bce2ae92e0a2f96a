/* SPDX-License-Identifier: Apache-2.0 */
/* What the console does on a VM's write, on an interrupt of the UART and on a timer: it starts
 * output, passes typed characters on, and shows lines that are not finished. */
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
    struct vm *typed_to;    /* gets typed characters instead of sources.focus, or NULL */
    bool escape;            /* the escape key was typed */
    bool (*divert)(char c); /* gets typed characters, or NULL; on the UART's CPU, as `escape` */
    bool flush_armed;       /* the timer of console_flush() */
    bool flush_again;       /* this round of console_flush() leaves unfinished lines */
    /* the terminal was busy when the round started, so VMs may wait within a line */
    bool flush_busy;
    unsigned flush_at; /* next VM of the round */
    unsigned notified; /* the VM that was notified last */
    bool took;         /* the last UART interrupt read a character; used by the UART's CPU only */
    struct timer flush;
} console; /* owner: this file; guarded by console_lock */

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
    if (s->len > 0 && s->due == 0 && vm != sources.focus) {
        flush_later();
    }
    out_send(SEND_ON_WRITE, &sources.notify);
    spin_unlock(&console_lock);
}

unsigned console_write(struct vm *vm, const char *text, unsigned size)
{
    struct source *s = &sources.vms[vm->id];
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
    struct source *s = &sources.vms[vm->id];

    spin_lock(&console_lock);
    if (!source_putc(s, c) && s->queued < CONSOLE_FIFO) {
        s->fifo[(s->first + s->queued++) % CONSOLE_FIFO] = c;
    }
    spin_unlock(&console_lock);
    written(vm, s);
}

void console_end(struct vm *vm)
{
    struct source *s = &sources.vms[vm->id];

    if (source_is_unfinished(s)) {
        console_putc(vm, '\n');
    }
}

bool console_ready_slow(struct vm *vm)
{
    /* Request first, then check again: otherwise room freed in between would go unnoticed. */
    atomic_store_seq(&sources.vms[vm->id].wants_room, true);
    return !atomic_load_seq(&vm->console_busy);
}

/* The round's next unfinished line that is not shown as it grows, or NULL. */
static struct source *flush_next(void)
{
    while (console.flush_at < hyp.nvms) {
        struct source *s = &sources.vms[console.flush_at];

        console.flush_at++;
        if (s->len > 0 && s->due == 0 && source_vm(s) != sources.focus) {
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

/* Caller holds console_lock. */
static void change_mode(enum console_mode mode)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        source_change(&sources.vms[i], mode);
    }
    sources.mode = mode;
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
    if (sources.mode == CONSOLE_ALONE) {
        (void)out_raw(text, size);
        change_mode(CONSOLE_LINES);
        lost = sources.dropped;
        sources.dropped = 0;
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
    return sources.focus;
}

void console_set_focus(struct vm *vm)
{
    const struct source *before = source_focused();

    spin_lock(&console_lock);
    sources.focus = vm;
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
    struct vm *vm = console.typed_to != NULL ? console.typed_to : sources.focus;

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
        found = sources.vms[console.notified].wants_room && !hyp.vms[console.notified].console_busy;
    }
    if (!found) {
        return NULL;
    }
    sources.vms[console.notified].wants_room = false;
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
    notify = sources.notify && !done;
    vm = notify ? take_waiting() : NULL;
    sources.notify = done || vm != NULL;
    if (!done && !notify) {
        out_send(SEND_ON_INTERRUPT, &sources.notify);
    }
    platform_uart_again(sources.notify);
    spin_unlock(&console_lock);
    if (vm != NULL) {
        vuart_tx_ready(vm);
    }
}

void console_init(void)
{
    timer_init(&console.flush, flush_due);
    console.flush.unlocked = true; /* console_lock comes before sched_lock */
    sources_init();
}
