/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands on the terminal. Every finished line is shown with its VM's name, in the order in which they were finished;
 * the unfinished line of the VM that has the keyboard is shown as it grows, is erased when another line comes, and drawn
 * again below that. One character at a time: a terminal is slow, and nobody shall wait for it with interrupts off.
 */
#include "console_parts.h"
#include "platform.h"
#include "system.h"

#define LOG_COLOUR 90U /* bright black: the hypervisor's own lines stay behind the guests' */
#define LOG_NAME "tessera"
#define QUERY_LONGEST 16U /* of a terminal query; a longer one is none */

/* What out_next() returns beside characters. */
#define OUT_NOTHING (-1)
#define OUT_SKIPPED (-2)

enum step {
    OUT_IDLE,  /* nothing begun */
    OUT_ERASE, /* the line that is shown */
    OUT_NAME,
    OUT_LINE, /* what it says */
    OUT_END,  /* it is finished: to the next line */
};

static struct {
    struct source *shown; /* whose unfinished line stands on the terminal, or NULL */
    enum step step;
    struct source *of; /* whose line is being shown, NULL: the hypervisor's */
    bool whole;        /* it is finished, and ends */
    bool anew;         /* it was not on the terminal: what it asked a terminal that does not show it is not asked */
    unsigned at;       /* next character of the line of `of` */
    struct text text;  /* OUT_ERASE, OUT_NAME, OUT_END, and OUT_LINE of the hypervisor's */
    int held;          /* a character that the UART did not take, or OUT_NOTHING */
    ulong name[2];     /* arguments of OUT_NAME */
    unsigned raw_head, raw_tail; /* free-running */
    char raw[CONSOLE_RAW];       /* to be sent as it is */
} out = {.held = OUT_NOTHING};   /* owner: this file */

/* Length of the terminal query (CSI ... n or CSI ... c) at `at` in the line, 0 if there is none. */
static unsigned query_length(const struct source *s, unsigned at)
{
    unsigned end = at + QUERY_LONGEST < s->len ? at + QUERY_LONGEST : s->len;
    unsigned i = at + 2;

    if (i >= end || s->line[at] != '\033' || s->line[at + 1] != '[') {
        return 0;
    }
    while (i < end && s->line[i] < '@') {
        i++;
    }
    return i < end && (s->line[i] == 'n' || s->line[i] == 'c') ? i + 1 - at : 0;
}

static void say(enum step step, const char *format, const ulong *args)
{
    out.step = step;
    text_begin(&out.text, format, args);
}

/* Begins with the line of `s` (NULL: the hypervisor's first), which is not on the terminal. */
static void show(struct source *s, bool whole)
{
    out.of = s;
    out.whole = whole;
    out.anew = true;
    out.at = 0;
    if (out.shown != NULL) {
        out.shown = NULL;
        say(OUT_ERASE, "\r\033[K", NULL);
    } else {
        out.step = OUT_ERASE;
        text_begin(&out.text, "", NULL);
    }
}

/* Goes on with the line of `s`, which stands on the terminal up to out.at. */
static void go_on(struct source *s, bool whole)
{
    out.of = s;
    out.whole = whole;
    out.anew = false;
    out.step = OUT_LINE;
}

/* The finished line that has waited longest: of *s, NULL for the hypervisor's. False if there is none. */
static bool first_due(struct source **s)
{
    struct source *all = sources();
    unsigned first = log_due();
    bool found = first != 0;

    *s = NULL;
    for (unsigned i = 0; i < hyp.nvms; i++) {
        unsigned due = all[i].due;

        if (due != 0 && (!found || (int)(due - first) < 0)) {
            found = true;
            first = due;
            *s = &all[i];
        }
    }
    return found;
}

/* The unfinished line that is shown as it grows. False if all there is of it is shown. */
static bool begin_growing(void)
{
    struct source *s = source_focused();

    if (s == NULL) {
        return false;
    }
    if (s->restart) {
        s->restart = false;
        show(s, false);
        return true;
    }
    if (s != out.shown ? s->len == 0 : out.at >= s->len) {
        return false;
    }
    if (s == out.shown) {
        go_on(s, false);
    } else {
        show(s, false);
    }
    return true;
}

/* Finds something to show. */
static bool begin(void)
{
    struct source *s;

    if (!first_due(&s)) {
        return begin_growing();
    }
    if (s != NULL && s == out.shown && !s->restart) {
        go_on(s, true);
    } else {
        show(s, true);
    }
    return true;
}

static void name(void)
{
    out.name[0] = out.of != NULL ? out.of->colour : LOG_COLOUR;
    out.name[1] = (ulong)(out.of != NULL ? out.of->name : LOG_NAME);
    say(OUT_NAME, "\033[%um%-8s|\033[0m ", out.name);
}

/* The name is there: the line follows. */
static void named(void)
{
    out.step = OUT_LINE;
    if (out.of == NULL) {
        log_begin(&out.text);
    } else if (!out.whole) {
        out.shown = out.of;
    }
}

static void finished(void)
{
    if (out.of == NULL) {
        log_done();
    } else {
        source_clear(out.of);
        out.shown = out.shown == out.of ? NULL : out.shown;
    }
    out.step = OUT_IDLE;
}

/* A step is through with. */
static void next_step(void)
{
    if (out.step == OUT_ERASE) {
        name();
    } else if (out.step == OUT_NAME) {
        named();
    } else if (out.step != OUT_LINE) {
        finished();
    } else if (out.whole) {
        say(OUT_END, "\r\n", NULL);
    } else {
        out.step = OUT_IDLE;
    }
}

/* The next character of a VM's line. A question to the terminal in it (a shell asks where the cursor is) is asked once:
 * the answer to another one would be taken for typed characters. */
static int line_next(struct source *s)
{
    unsigned query;

    if (out.at >= s->len) {
        return OUT_NOTHING;
    }
    query = out.at < s->asked || (out.anew && out.whole) ? query_length(s, out.at) : 0;
    if (query != 0) {
        out.at += query;
        return OUT_SKIPPED;
    }
    s->asked = out.at >= s->asked ? out.at + 1 : s->asked;
    return (unsigned char)s->line[out.at++];
}

/* The next character for the terminal, OUT_SKIPPED if it took as long without one, or OUT_NOTHING. */
static int out_next(void)
{
    int c;

    if (UNLIKELY(out.raw_head != out.raw_tail)) {
        return (unsigned char)out.raw[out.raw_tail++ % CONSOLE_RAW];
    }
    if (out.step == OUT_IDLE) {
        return begin() ? OUT_SKIPPED : OUT_NOTHING;
    }
    c = out.step == OUT_LINE && out.of != NULL ? line_next(out.of) : text_next(&out.text);
    if (c == OUT_NOTHING) {
        next_step();
        return OUT_SKIPPED;
    }
    return c;
}

/* False if there is nothing to send, or no room for it. */
static bool send_one(void)
{
    if (out.held == OUT_NOTHING) {
        out.held = out_next();
    }
    if (out.held == OUT_NOTHING) {
        platform_uart_notify_tx(false);
        return false;
    }
    if (out.held == OUT_SKIPPED || platform_uart_put((char)out.held)) {
        out.held = OUT_NOTHING;
        return true;
    }
    platform_uart_notify_tx(true);
    return false;
}

void out_send(unsigned count, const bool *more)
{
    unsigned left = count;

    while (left > 0 && send_one()) {
        left--;
    }
    if (left == 0 || *more) {
        platform_uart_notify_tx(true);
    }
}

bool out_raw(const char *text, unsigned size)
{
    if (CONSOLE_RAW - (out.raw_head - out.raw_tail) < size) {
        return false;
    }
    for (unsigned i = 0; i < size; i++) {
        out.raw[out.raw_head++ % CONSOLE_RAW] = text[i];
    }
    return true;
}

bool out_busy(void)
{
    return out.step != OUT_IDLE || out.held != OUT_NOTHING;
}

void out_drain(unsigned tries)
{
    for (unsigned left = tries; left > 0; left--) {
        while (send_one()) {
        }
        if (out.held == OUT_NOTHING) {
            if (out.shown == NULL || out.shown->due != 0) {
                return;
            }
            out.shown->due = log_order(); /* whatever uses the terminal next begins a line of its own */
        }
    }
}
