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
#define NO_CHANNEL 0U

/* What out_next() returns beside characters. */
#define OUT_NOTHING (-1)
#define OUT_SKIPPED (-2)

enum step {
    OUT_IDLE,  /* nothing begun */
    OUT_MARK,  /* whose bytes follow */
    OUT_ERASE, /* the line that is shown */
    OUT_NAME,
    OUT_LINE,   /* what it says */
    OUT_END,    /* it is finished: to the next line */
    OUT_REFILL, /* it was shown: what came meanwhile goes into the next one */
};

static struct {
    struct source *shown; /* whose unfinished line stands on the terminal, or NULL */
    enum step step;
    struct source *of;           /* whose line is being shown, NULL: the hypervisor's */
    bool whole;                  /* it is finished, and ends */
    bool inserted;               /* text comes before what follows in the line of `of` */
    bool doubled;                /* the first of two marks was sent */
    unsigned channel;            /* whose bytes the last mark announced: 1 + VM number, or NO_CHANNEL */
    unsigned at;                 /* next character of the line of `of` */
    struct text text;            /* all steps but OUT_LINE of a VM; there, what is inserted */
    int held;                    /* a character that the UART did not take, or OUT_NOTHING */
    ulong args[2];               /* of text */
    unsigned raw_head, raw_tail; /* free-running */
    char raw[CONSOLE_RAW];       /* to be sent as it is */
} out = {.held = OUT_NOTHING};   /* owner: this file */

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
    out.at = 0;
    if (out.shown != NULL) {
        out.shown = NULL;
        say(OUT_ERASE, "\r\033[0m\033[K", NULL);
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
    out.step = OUT_LINE;
}

/* Begins with the bytes of `s`. */
static void show_bytes(struct source *s)
{
    out.shown = NULL;
    out.at = 0;
    go_on(s, true);
}

/* Says whose bytes follow, unless that is so already. */
static bool change_channel(const struct source *s)
{
    unsigned channel = NO_CHANNEL;
    ulong mark = '.';

    if (s != NULL && s->mode == CONSOLE_CHANNELS) {
        channel = (unsigned)(s - sources()) + 1U;
        mark = (s == source_focused() ? 'a' : 'A') + channel - 1U;
    }
    if (channel == out.channel) {
        return false;
    }
    out.channel = channel;
    out.args[0] = mark;
    say(OUT_MARK, "\037%c", out.args);
    return true;
}

/* The finished line that has waited longest: of *s, NULL for the hypervisor's. False if there is none. */
static bool first_due(struct source **s)
{
    struct source *vms = source_first_due();
    unsigned due = log_due();

    *s = vms != NULL && (due == 0 || (int)(vms->due - due) < 0) ? vms : NULL;
    return *s != NULL || due != 0;
}

/* Whether there is more of the unfinished line that is shown as it grows. */
static bool grows(const struct source *s)
{
    return s != NULL && (s->restart || (s == out.shown ? out.at < s->len : s->len > 0));
}

static bool begin_growing(void)
{
    struct source *s = source_focused();

    if (!grows(s)) {
        return false;
    }
    if (change_channel(s)) {
        return true;
    }
    if (s == out.shown && !s->restart) {
        go_on(s, false);
    } else {
        s->restart = false;
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
    if (change_channel(s)) {
        return true;
    }
    if (s != NULL && s->mode != CONSOLE_LINES) {
        show_bytes(s);
    } else if (s != NULL && s == out.shown && !s->restart) {
        go_on(s, true);
    } else {
        show(s, true);
    }
    return true;
}

static void name(void)
{
    out.args[0] = out.of != NULL ? out.of->colour : LOG_COLOUR;
    out.args[1] = (ulong)(out.of != NULL ? out.of->name : LOG_NAME);
    say(OUT_NAME, "\033[%um%-8s|\033[0m ", out.args);
}

/* The name is there: the line follows. */
static void named(void)
{
    out.step = OUT_LINE;
    if (out.of == NULL) {
        log_begin(&out.text);
    } else if (!out.whole) {
        out.of->restart = false; /* nothing of what was there before is shown */
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
    out.step = out.of != NULL ? OUT_REFILL : OUT_IDLE;
}

/* How a line ends: a VM's colours, and whether it is the whole line, which a program may want to know. */
static const char *line_end(const struct source *s)
{
    if (s != NULL && s->cut) {
        return "\033[m\r\n";
    }
    return s != NULL && s->coloured ? "\033[0m\r\n" : "\r\n";
}

/* All characters of the line have been sent. */
static void line_sent(void)
{
    if (out.of != NULL && out.of->mode != CONSOLE_LINES) {
        finished();
    } else if (out.whole) {
        say(OUT_END, line_end(out.of), NULL);
    } else {
        out.step = OUT_IDLE;
    }
}

/* A step is through with. */
static void next_step(void)
{
    switch (out.step) {
    case OUT_ERASE:
        name();
        break;
    case OUT_NAME:
        named();
        break;
    case OUT_LINE:
        line_sent();
        break;
    case OUT_END:
        finished();
        break;
    default:
        out.step = OUT_IDLE;
        break;
    }
}

/* The next character of a VM's line. OUT_NOTHING if a carriage return has begun the line anew since its first character
 * was sent: out.at is a place in the old text, and could be the middle of a CONSOLE_MOVE pair in the new one. */
static int line_next(const struct source *s)
{
    bool anew = s->restart && !out.whole;
    int c = out.at < s->len && !anew ? (unsigned char)s->line[out.at] : OUT_NOTHING;

    if (c == OUT_NOTHING) {
        return c;
    }
    if (s->mode == CONSOLE_CHANNELS && c == CONSOLE_MARK && !out.doubled) {
        out.doubled = true;
        return c;
    }
    out.doubled = false;
    out.at++;
    if (s->mode == CONSOLE_LINES && c == CONSOLE_MOVE) {
        out.args[0] = s->start + (unsigned char)s->line[out.at++] + 1U;
        out.inserted = true;
        text_begin(&out.text, "\033[%uG", out.args);
        return OUT_SKIPPED;
    }
    return c;
}

/* The next character of the step that is under way, OUT_NOTHING at its end, or OUT_SKIPPED. */
static int step_next(void)
{
    if (out.step == OUT_REFILL) {
        return source_refill(out.of) ? OUT_SKIPPED : OUT_NOTHING;
    }
    return out.step == OUT_LINE && out.of != NULL && !out.inserted ? line_next(out.of) : text_next(&out.text);
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
    c = step_next();
    if (c != OUT_NOTHING) {
        return c;
    }
    if (out.inserted) {
        out.inserted = false;
    } else {
        next_step();
    }
    return OUT_SKIPPED;
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
            source_finish(out.shown, false); /* whatever uses the terminal next begins a line of its own */
        }
    }
}
