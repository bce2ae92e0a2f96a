/* SPDX-License-Identifier: Apache-2.0 */
#include "console.h"

#include <stdarg.h>

#include "lib.h"
#include "platform.h"
#include "sched.h"
#include "spinlock.h"
#include "system.h"
#include "vuart.h"

#define LOG_COLOUR 90U /* bright black: the hypervisor's own lines stay behind the guests' */
#define CLEAR_LINE "\r\033[K"

/* A source of lines: a VM, or the hypervisor itself. */
struct source {
    const char *name;
    unsigned colour;
    unsigned len;    /* of line, as far as it is unfinished */
    bool returned;   /* the last character was a carriage return */
    bool touched;    /* written to since console_flush() last looked */
    bool wants_room; /* console_ready() said no */
    char line[CONSOLE_LINE];
};

static struct {
    struct spinlock lock; /* guards all of this */
    struct source vms[SYSIMAGE_MAX_VMS];
    struct source log;
    struct source *shown;   /* whose unfinished line stands on the terminal, or NULL */
    struct vm *focus;       /* has the keyboard */
    bool escape;            /* the escape key was typed */
    bool (*divert)(char c); /* who gets what is typed, or NULL; like escape, of the CPU that has the UART */
    bool flush_armed;
    struct timer flush;
    unsigned tx_head, tx_tail; /* free-running */
    char tx[CONSOLE_TX];
} console = {.log = {.name = "tessera", .colour = LOG_COLOUR}}; /* owner: this file */

static unsigned tx_used(void)
{
    return console.tx_head - console.tx_tail;
}

bool console_full; /* owner: tx_drain() */

static void tx_drain(void)
{
    while (tx_used() > 0 && platform_uart_put(console.tx[console.tx_tail % CONSOLE_TX])) {
        console.tx_tail++;
    }
    platform_uart_notify_tx(tx_used() > 0);
    __atomic_store_n(&console_full, CONSOLE_TX - tx_used() < CONSOLE_ROOM, __ATOMIC_RELAXED);
}

/* Output that finds the ring full is lost; console_ready() keeps guests from getting there. */
static void emit(char c)
{
    if (tx_used() < CONSOLE_TX) {
        console.tx[console.tx_head++ % CONSOLE_TX] = c;
    }
}

static void emit_string(const char *s)
{
    while (*s != '\0') {
        emit(*s++);
    }
}

static void emit_format_put(void *arg, char c)
{
    (void)arg;
    emit(c);
}

__attribute__((format(printf, 1, 2))) static void emit_format(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    format(emit_format_put, NULL, fmt, ap);
    va_end(ap);
}

/* Length of the terminal query (CSI ... n or CSI ... c) at `at` in the line, 0 if there is none. */
static unsigned query_length(const struct source *s, unsigned at)
{
    unsigned i = at + 2;

    if (i >= s->len || s->line[at] != '\033' || s->line[at + 1] != '[') {
        return 0;
    }
    while (i < s->len && s->line[i] < '@') {
        i++;
    }
    return i < s->len && (s->line[i] == 'n' || s->line[i] == 'c') ? i + 1 - at : 0;
}

/* Name and what there is of the line. A question to the terminal in it (a shell asks where the cursor is) is not asked
 * again: the answer would be taken for typed characters. */
static void show_line(const struct source *s)
{
    emit_format("\033[%um%-8s|\033[0m ", s->colour, s->name);
    for (unsigned i = 0; i < s->len; i++) {
        unsigned query = query_length(s, i);

        if (query != 0) {
            i += query - 1;
        } else {
            emit(s->line[i]);
        }
    }
}

/* Takes an unfinished line of somebody else's off the terminal. */
static void hide_shown(void)
{
    if (console.shown != NULL) {
        emit_string(CLEAR_LINE);
    }
}

/* A whole line, above the line being typed. */
static void finish_line(struct source *s)
{
    if (console.shown != s) {
        hide_shown();
        show_line(s);
    }
    emit_string("\r\n");
    s->len = 0;
    if (console.shown == s) {
        console.shown = NULL;
    } else if (console.shown != NULL) {
        show_line(console.shown);
    }
}

static bool has_focus(const struct source *s)
{
    return console.focus != NULL && s == &console.vms[console.focus->id];
}

static void append(struct source *s, char c)
{
    if (s->len == CONSOLE_LINE) {
        finish_line(s);
    }
    s->line[s->len++] = c;
    if (!has_focus(s)) {
        return;
    }
    if (console.shown == s) {
        emit(c);
    } else {
        hide_shown();
        console.shown = s;
        show_line(s);
    }
}

/* A carriage return that no newline follows starts the line over. */
static void start_over(struct source *s)
{
    s->len = 0;
    if (console.shown == s) {
        emit_string(CLEAR_LINE);
        show_line(s);
    }
}

static void source_putc(struct source *s, char c)
{
    bool returned = s->returned;

    s->touched = true;
    s->returned = c == '\r';
    if (c == '\n') {
        finish_line(s);
    } else if (c != '\r' && c != '\0') {
        if (returned) {
            start_over(s);
        }
        if (c != '\b' || s->len > 0) { /* back beyond the line's start there is the VM's name */
            append(s, c);
        }
    }
}

static void flush_due(struct timer *t)
{
    (void)t;
    cpu_self()->flags |= CPU_CONSOLE;
}

static void flush_arm(void)
{
    console.flush_armed = true;
    spin_lock(&sched_lock);
    timer_arm(&console.flush, arch_time() + CONSOLE_FLUSH_MS * 1000U * hyp.us);
    spin_unlock(&sched_lock);
}

void console_putc(struct vm *vm, char c)
{
    struct source *s = &console.vms[vm->id];

    spin_lock(&console.lock);
    source_putc(s, c);
    if (s->len > 0 && !console.flush_armed && !has_focus(s)) {
        flush_arm();
    }
    tx_drain();
    spin_unlock(&console.lock);
}

bool console_refuse(struct vm *vm)
{
    /* Wish first, then look again: room that came in between told nobody. */
    __atomic_store_n(&console.vms[vm->id].wants_room, true, __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&console_full, __ATOMIC_SEQ_CST);
}

void console_flush(void)
{
    bool again = false;

    spin_lock(&console.lock);
    for (unsigned i = 0; i < hyp.nvms; i++) {
        struct source *s = &console.vms[i];

        if (s->len > 0 && !has_focus(s)) {
            if (!s->touched) {
                finish_line(s);
            }
            again |= s->touched;
        }
        s->touched = false;
    }
    console.flush_armed = false;
    if (again) {
        flush_arm();
    }
    tx_drain();
    spin_unlock(&console.lock);
}

static void log_put(void *arg, char c)
{
    (void)arg;
    source_putc(&console.log, c);
}

void console_log(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    spin_lock(&console.lock);
    format(log_put, NULL, fmt, ap);
    source_putc(&console.log, '\n');
    tx_drain();
    spin_unlock(&console.lock);
    va_end(ap);
}

bool console_send(const char *text, unsigned size)
{
    bool room;

    spin_lock(&console.lock);
    room = CONSOLE_TX - tx_used() >= size;
    for (unsigned i = 0; room && i < size; i++) {
        emit(text[i]);
    }
    platform_uart_notify_tx(true); /* sent by its interrupt: two short stretches instead of a long one */
    spin_unlock(&console.lock);
    return room;
}

void console_divert(bool (*take)(char c))
{
    console.divert = take;
}

void console_seize(void)
{
    for (unsigned tries = 0; tries < CONSOLE_SEIZE_TRIES; tries++) {
        if (__atomic_load_n(&console.lock.owner, __ATOMIC_RELAXED) ==
            __atomic_load_n(&console.lock.next, __ATOMIC_RELAXED)) {
            return;
        }
    }
    console.lock = (struct spinlock){0};
}

void console_drain(void)
{
    spin_lock(&console.lock);
    if (console.shown != NULL) { /* whatever uses the terminal next begins a line of its own */
        finish_line(console.shown);
    }
    for (unsigned tries = 0; tx_used() > 0 && tries < CONSOLE_DRAIN_TRIES; tries++) {
        tx_drain();
    }
    spin_unlock(&console.lock);
}

struct vm *console_focus(void)
{
    return console.focus;
}

void console_set_focus(struct vm *vm)
{
    struct source *s = &console.vms[vm->id];

    spin_lock(&console.lock);
    if (console.shown != NULL && console.shown != s) {
        finish_line(console.shown);
    }
    console.focus = vm;
    if (s->len > 0 && console.shown != s) {
        console.shown = s;
        show_line(s);
    }
    tx_drain();
    spin_unlock(&console.lock);
}

static bool console_diverted(char c)
{
    if (!console.divert(c) || c == CONSOLE_ESCAPE) {
        console.divert = NULL;
    }
    return c != CONSOLE_ESCAPE;
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
        console.escape = false; /* typed twice, it is meant for the guest */
        if (console.focus != NULL) {
            vuart_receive(console.focus, c);
        }
    }
}

/* VMs that found no room are told when there is plenty. */
static void tell_room(void)
{
    if (tx_used() > CONSOLE_TX / 2U) {
        return;
    }
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (console.vms[i].wants_room) {
            console.vms[i].wants_room = false;
            vuart_tx_ready(&hyp.vms[i]);
        }
    }
}

void console_interrupt(void)
{
    int c;

    spin_lock(&console.lock);
    tx_drain();
    spin_unlock(&console.lock);
    tell_room();
    /* One interrupt, at most one FIFO's worth: a paste cannot hold this CPU. */
    for (unsigned i = 0; i < 16 && (c = platform_uart_get()) >= 0; i++) {
        console_typed((char)c);
    }
}

void console_open(void)
{
    emit_string("\r\n");
}

void console_init(void)
{
    timer_init(&console.flush, flush_due);
    console.focus = &hyp.vms[0];
    for (unsigned i = hyp.nvms; i-- > 0;) { /* the first that wants it has the last word */
        const struct sysimage_vm *config = hyp.vms[i].config;

        console.vms[i].name = config->name;
        console.vms[i].colour = config->colour;
        if ((config->flags & SYSIMAGE_VM_FOCUS) != 0) {
            console.focus = &hyp.vms[i];
        }
    }
}
