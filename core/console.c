/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that VMs write, and who has the keyboard. */
#include "console.h"

#include "console_parts.h"
#include "platform.h"
#include "sched.h"
#include "system.h"
#include "vuart.h"

#define SEND_ON_WRITE 2U     /* characters sent where a VM writes some */
#define SEND_ON_INTERRUPT 3U /* the same where the UART asks for more */

struct spinlock console_lock;

static struct {
    struct source vms[SYSIMAGE_MAX_VMS]; /* by VM number */
    struct vm *focus;                    /* has the keyboard */
    bool escape;                         /* the escape key was typed */
    bool (*divert)(char c); /* who gets what is typed, or NULL; like escape, of the CPU that has the UART */
    bool flush_armed;
    bool tell; /* a VM that wants room may have got it, or an operator may be at work */
    bool took; /* the UART's last interrupt was spent on what was typed; like escape */
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

static struct vm *vm_of(const struct source *s)
{
    return &hyp.vms[s - console.vms];
}

static void source_finish(struct source *s)
{
    s->due = log_order();
    __atomic_store_n(&vm_of(s)->console_busy, true, __ATOMIC_RELAXED);
}

/* A carriage return that no newline follows starts the line over. */
static void start_over(struct source *s)
{
    s->restart |= s->len > 0;
    s->len = 0;
}

static void source_append(struct source *s, char c)
{
    if (c == '\b' && s->len == 0) {
        return; /* back beyond the line's start there is the VM's name */
    }
    s->line[s->len++] = c;
    if (s->len == CONSOLE_LINE) {
        source_finish(s);
    }
}

static void source_putc(struct source *s, char c)
{
    bool returned = s->returned;

    s->touched = true;
    s->returned = c == '\r';
    if (c == '\n') {
        source_finish(s);
    } else if (c != '\r' && c != '\0') {
        if (returned) {
            start_over(s);
        }
        source_append(s, c);
    }
}

/* What came meanwhile follows, perhaps up to the end of another line. */
static void source_refill(struct source *s)
{
    unsigned done = 0;

    while (done < s->behind && s->due == 0) {
        source_putc(s, s->fifo[done++]);
    }
    s->behind -= done;
    for (unsigned i = 0; i < s->behind; i++) {
        s->fifo[i] = s->fifo[i + done];
    }
}

void source_clear(struct source *s)
{
    s->len = 0;
    s->asked = 0;
    s->due = 0;
    s->restart = false;
    source_refill(s);
    if (s->due == 0) {
        __atomic_store_n(&vm_of(s)->console_busy, false, __ATOMIC_SEQ_CST);
        console.tell |= s->wants_room;
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

/* The VM's characters are in its line: some of what waits is shown, and what does not grow on the terminal is looked
 * after in a while. Caller holds console_lock. */
static void written(const struct vm *vm, const struct source *s)
{
    if (s->len > 0 && s->due == 0 && !console.flush_armed && vm != console.focus) {
        flush_arm();
    }
    out_send(SEND_ON_WRITE, &console.tell);
}

unsigned console_write(struct vm *vm, const char *text, unsigned size)
{
    struct source *s = &console.vms[vm->id];
    unsigned done = 0;

    spin_lock(&console_lock);
    for (; done < size && done < CONSOLE_WRITE && s->due == 0; done++) {
        source_putc(s, text[done]);
    }
    written(vm, s);
    spin_unlock(&console_lock);
    return done;
}

void console_putc(struct vm *vm, char c)
{
    struct source *s = &console.vms[vm->id];

    spin_lock(&console_lock);
    if (s->due == 0) {
        source_putc(s, c);
    } else if (s->behind < CONSOLE_FIFO) {
        s->fifo[s->behind++] = c;
    }
    written(vm, s);
    spin_unlock(&console_lock);
}

void console_end(struct vm *vm)
{
    if (console.vms[vm->id].len > 0 && console.vms[vm->id].due == 0) {
        console_putc(vm, '\n');
    }
}

bool console_refuse(struct vm *vm)
{
    /* Wish first, then look again: room that came in between told nobody. */
    __atomic_store_n(&console.vms[vm->id].wants_room, true, __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&vm->console_busy, __ATOMIC_SEQ_CST);
}

void console_flush(void)
{
    bool again = false, busy;

    spin_lock(&console_lock);
    busy = out_busy(); /* then it may be the console that a VM waits for in the middle of its line */
    for (unsigned i = 0; i < hyp.nvms; i++) {
        struct source *s = &console.vms[i];

        if (s->len > 0 && s->due == 0 && &hyp.vms[i] != console.focus) {
            if (s->touched || busy) {
                again = true;
            } else {
                source_finish(s);
            }
        }
        s->touched = false;
    }
    console.flush_armed = false;
    if (again) {
        flush_arm();
    }
    platform_uart_notify_tx(true);
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

void console_seize(void)
{
    for (unsigned tries = 0; tries < CONSOLE_SEIZE_TRIES; tries++) {
        if (__atomic_load_n(&console_lock.owner, __ATOMIC_RELAXED) ==
            __atomic_load_n(&console_lock.next, __ATOMIC_RELAXED)) {
            break;
        }
    }
    console_lock = (struct spinlock){0};
    log_seize();
}

void console_drain(void)
{
    spin_lock(&console_lock);
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
    if (before != NULL && before->len > 0 && !console.flush_armed) {
        flush_arm(); /* what grew on the terminal is a line like any other now */
    }
    platform_uart_notify_tx(true);
    spin_unlock(&console_lock);
}

extern const struct console_key __start_console_keys[], __stop_console_keys[];
extern const struct console_operator __start_console_operators[], __stop_console_operators[];

/* The key of a room, or the operator's. */
static void console_command(char key)
{
    for (const struct console_key *k = __start_console_keys; k < __stop_console_keys; k++) {
        if (k->key == key) {
            console_divert(k->take);
            return;
        }
    }
    for (const struct console_operator *o = __start_console_operators; o < __stop_console_operators; o++) {
        o->command(key);
    }
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

/* VMs that found no room are told. */
static void tell_room(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (console.vms[i].wants_room && !__atomic_load_n(&hyp.vms[i].console_busy, __ATOMIC_RELAXED)) {
            console.vms[i].wants_room = false;
            vuart_tx_ready(&hyp.vms[i]);
        }
    }
}

/* One character at a time. */
static bool take_typed(void)
{
    int c = platform_uart_get();

    if (c >= 0) {
        console_typed((char)c);
    }
    return c >= 0;
}

/* One step of one of them. */
static bool step_operators(void)
{
    bool stepped = false;

    for (const struct console_operator *o = __start_console_operators; o < __stop_console_operators && !stepped; o++) {
        stepped = *o->at_work && o->step(log_waiting());
    }
    return stepped;
}

/* A little at a time, and one thing: the UART interrupts again while there is more. For who types without pause the rest
 * has its turn, too. What was typed may have set an operator to work, who is not forgotten when all is sent; VMs that
 * got room by what was sent are told the next time. */
void console_interrupt(void)
{
    bool typed = !console.took && take_typed(), done = typed || step_operators(), tell;

    console.took = typed;
    spin_lock(&console_lock);
    tell = console.tell && !done;
    console.tell = done;
    if (!done && !tell) {
        out_send(SEND_ON_INTERRUPT, &console.tell);
    }
    platform_uart_again(console.tell);
    spin_unlock(&console_lock);
    if (tell) {
        tell_room();
    }
}

void console_open(void)
{
    platform_uart_put('\r');
    platform_uart_put('\n');
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
