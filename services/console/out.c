/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output to the terminal. Finished lines are shown with their VM's name, in the order in which they
 * were finished. The unfinished line of the VM with the keyboard is shown as it grows; if another
 * line comes, it is erased and drawn again below. Characters are sent one at a time, because the
 * UART is slow and must not lengthen interrupt latency.
 */
#include "console_parts.h"
#include "platform.h"
#include "system.h"

#define LOG_COLOUR 90U /* bright black: less prominent than guests' lines */
#define LOG_NAME "tessera"
#define NO_CHANNEL 0U

/* Return values of out_next() other than characters. */
#define OUT_NOTHING (-1)
#define OUT_SKIPPED (-2)

enum step {
    OUT_IDLE,  /* no output in progress */
    OUT_MARK,  /* announce the VM whose bytes follow */
    OUT_ERASE, /* erase the unfinished line that is shown */
    OUT_NAME,
    OUT_LINE,   /* text of the line */
    OUT_END,    /* end of a finished line */
    OUT_REFILL, /* after the end: move characters from the FIFO to the next line */
};

static struct {
    struct source *shown; /* source whose unfinished line is shown, or NULL */
    enum step step;
    struct source *of;           /* source of the line in progress, NULL: the hypervisor */
    bool whole;                  /* the line is finished and gets its end */
    bool inserted;               /* `text` is inserted into the line of `of` */
    bool doubled;                /* the first of two marks was sent */
    unsigned channel;            /* announced by the last mark: 1 + VM number, or NO_CHANNEL */
    unsigned at;                 /* next character in the line of `of` */
    unsigned unit_len, unit_at;  /* in `unit`: its length, and the next byte to send */
    char unit[FILTER_LONGEST];   /* a character or sequence of several bytes, which is sent whole */
    struct text text;            /* text of the step; in OUT_LINE of a VM, inserted text */
    int held;                    /* a character that the UART has not taken, or OUT_NOTHING */
    ulong args[2];               /* of text */
    unsigned raw_head, raw_tail; /* free-running */
    char raw[CONSOLE_RAW];       /* sent unchanged */
} out = {.held = OUT_NOTHING};   /* owner: this file; guarded by console_lock */

static void begin_step(enum step step, const char *format, const ulong *args)
{
    out.step = step;
    text_begin(&out.text, format, args);
}

/* Starts the line of `s` (NULL: the hypervisor's first), none of which is shown. */
static void show(struct source *s, bool whole)
{
    out.of = s;
    out.whole = whole;
    out.at = 0;
    if (out.shown != NULL) {
        out.shown = NULL;
        begin_step(OUT_ERASE, "\r\033[0m\033[K", NULL);
    } else {
        out.step = OUT_ERASE;
        text_begin(&out.text, "", NULL);
    }
}

/* Continues the line of `s`, which is shown up to out.at. */
static void continue_line(struct source *s, bool whole)
{
    out.of = s;
    out.whole = whole;
    out.step = OUT_LINE;
}

/* Starts the unfiltered bytes of `s`. */
static void show_bytes(struct source *s)
{
    out.shown = NULL;
    out.at = 0;
    continue_line(s, true);
}

/* Announces the VM whose bytes follow. False if the last mark did. */
static bool change_channel(const struct source *s)
{
    unsigned channel = NO_CHANNEL;
    ulong mark = '.';

    if (s != NULL && s->mode == CONSOLE_CHANNELS) {
        channel = (unsigned)(s - sources.vms) + 1U;
        mark = (s == source_focused() ? 'a' : 'A') + channel - 1U;
    }
    if (channel == out.channel) {
        return false;
    }
    out.channel = channel;
    out.args[0] = mark;
    begin_step(OUT_MARK, "\037%c", out.args);
    return true;
}

/* Finds the finished line that has waited longest: in *s, NULL for the hypervisor's. False if there
 * is none. */
static bool first_due(struct source **s)
{
    struct source *vms = sources.first_due;
    unsigned due = log_due();

    *s = vms != NULL && (due == 0 || (int)(vms->due - due) < 0) ? vms : NULL;
    return *s != NULL || due != 0;
}

/* Whether the line that is shown as it grows has more to show. */
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
        continue_line(s, false);
    } else {
        s->restart = false;
        show(s, false);
    }
    return true;
}

/* Selects the next output. False if there is none. */
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
        continue_line(s, true);
    } else {
        show(s, true);
    }
    return true;
}

static void name(void)
{
    out.args[0] = out.of != NULL ? out.of->colour : LOG_COLOUR;
    out.args[1] = (ulong)(out.of != NULL ? out.of->name : LOG_NAME);
    begin_step(OUT_NAME, "\033[%um%-8s|\033[0m ", out.args);
}

/* After the name: selects the line's text. */
static void named(void)
{
    out.step = OUT_LINE;
    if (out.of == NULL) {
        log_begin(&out.text);
    } else if (!out.whole) {
        out.of->restart = false; /* nothing of the old text is shown */
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

/* End of a line. "[m" instead of "[0m" marks a line that is cut, for programs. */
static const char *line_end(const struct source *s)
{
    if (s != NULL && s->cut) {
        return "\033[m\r\n";
    }
    return s != NULL && s->coloured ? "\033[0m\r\n" : "\r\n";
}

/* After the last character of a line. */
static void line_sent(void)
{
    if (out.of != NULL && out.of->mode != CONSOLE_LINES) {
        finished();
    } else if (out.whole) {
        begin_step(OUT_END, line_end(out.of), NULL);
    } else {
        out.step = OUT_IDLE;
    }
}

/* Selects the next step. */
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

/* Copies the character or sequence at out.at: a carriage return of the VM may overwrite the line
 * before all of it is sent, and the terminal must not get a part. */
static void take_unit(const struct source *s)
{
    out.unit_len = filter_length(&s->line[out.at]);
    out.unit_at = 0;
    for (unsigned i = 0; i < out.unit_len; i++) {
        out.unit[i] = s->line[out.at + i];
    }
    out.at += out.unit_len;
}

/* The next character of a line of text, at out.at. */
static int text_line_next(const struct source *s)
{
    char c = s->line[out.at];

    if (c == CONSOLE_MOVE) {
        out.args[0] = s->start + (unsigned char)s->line[out.at + 1U] + 1U;
        out.at += 2U;
        out.inserted = true;
        text_begin(&out.text, "\033[%uG", out.args);
        return OUT_SKIPPED;
    }
    if (filter_begins(c)) {
        take_unit(s);
        return OUT_SKIPPED;
    }
    out.at++;
    return (unsigned char)c;
}

/* The next unfiltered byte, at out.at. A byte that looks like a mark is sent twice. */
static int raw_line_next(const struct source *s)
{
    int c = (unsigned char)s->line[out.at];

    out.doubled = s->mode == CONSOLE_CHANNELS && c == CONSOLE_MARK && !out.doubled;
    out.at += !out.doubled;
    return c;
}

/* The next character of a VM's line. OUT_NOTHING if a carriage return has restarted the line since
 * its first character was sent: out.at is an offset in the old text and may point into a
 * CONSOLE_MOVE pair of the new one. */
static int line_next(const struct source *s)
{
    bool restarted = s->restart && !out.whole;

    if (out.at >= s->len || restarted) {
        return OUT_NOTHING;
    }
    return s->mode == CONSOLE_LINES ? text_line_next(s) : raw_line_next(s);
}

/* The next character of the current step, OUT_NOTHING at its end, or OUT_SKIPPED. */
static int step_next(void)
{
    if (out.step == OUT_REFILL) {
        return source_refill(out.of) ? OUT_SKIPPED : OUT_NOTHING;
    }
    return out.step == OUT_LINE && out.of != NULL && !out.inserted ? line_next(out.of)
                                                                   : text_next(&out.text);
}

/* The next character for the terminal, OUT_SKIPPED if the step needs another call, or
 * OUT_NOTHING. */
static int out_next(void)
{
    int c;

    if (out.unit_at < out.unit_len) {
        return (unsigned char)out.unit[out.unit_at++];
    }
    if (out.raw_head != out.raw_tail) {
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

/* Sends a character. False if there is none, or no room for it. */
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
            source_finish(out.shown, false); /* later output starts on a new line */
        }
    }
}
