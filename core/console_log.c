/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor's own lines. console_post() stores only format and arguments; the text is made
 * later, at output. So a line costs a guest's exit only a few dozen instructions.
 */
#include "console_log.h"

#include "console.h"
#include "platform.h"

#define LOG_LINES 32U   /* stored lines; power of two */
#define LOG_RESERVED 2U /* reserved for a failing hypervisor */

struct spinlock console_lock;

static struct {
    unsigned head, tail; /* free-running: of `waiting` */
    unsigned order;      /* last number in the order of all lines, VMs' too; never 0 */
    unsigned room;       /* lines that may be stored now */
    unsigned hold;       /* lines after this number are held back; 0: none */
    ulong lost;          /* lines for which there was no place, not reported yet */
    struct log_line waiting[LOG_LINES];
    unsigned due[LOG_LINES];                  /* number of each line in the order */
} lines = {.room = LOG_LINES - LOG_RESERVED}; /* owner: this file; guarded by console_lock */

unsigned log_order(void)
{
    lines.order += lines.order + 1U == 0 ? 2U : 1U;
    return lines.order;
}

/* The place for a new line, which gets its number in the order. */
static struct log_line *log_next(void)
{
    unsigned at = lines.head % LOG_LINES;

    lines.head++;
    lines.due[at] = log_order();
    return &lines.waiting[at];
}

void console_post(const struct log_line *line)
{
    spin_lock(&console_lock);
    if (lines.head - lines.tail < lines.room) {
        *log_next() = *line;
    } else {
        lines.lost++;
    }
    platform_uart_notify_tx(true);
    spin_unlock(&console_lock);
}

unsigned log_waiting(void)
{
    return lines.head - lines.tail;
}

void console_post_minor(const struct log_line *line)
{
    if (log_waiting() < LOG_LINES / 2U) {
        console_post(line);
    }
}

unsigned log_due(void)
{
    unsigned due = log_waiting() > 0 ? lines.due[lines.tail % LOG_LINES] : 0;

    return lines.hold != 0 && (int)(due - lines.hold) > 0 ? 0 : due;
}

void log_hold(bool hold)
{
    lines.hold = hold ? log_order() : 0;
}

void log_begin(struct text *t)
{
    const struct log_line *line = &lines.waiting[lines.tail % LOG_LINES];

    text_begin(t, line->format, line->args);
}

void log_done(void)
{
    lines.tail++;
    if (lines.lost > 0 && log_waiting() == 0) {
        /* in place: a copy would prolong the critical section */
        struct log_line *line = log_next();

        line->format = "%lu lines are lost: the console is too slow";
        line->args[0] = lines.lost;
        lines.lost = 0;
    }
}

void console_open(void)
{
    platform_uart_put('\r');
    platform_uart_put('\n');
}

void console_seize(void)
{
    for (unsigned tries = 0; tries < CONSOLE_SEIZE_TRIES; tries++) {
        if (atomic_load_relaxed(&console_lock.owner) == atomic_load_relaxed(&console_lock.next)) {
            break;
        }
    }
    console_lock = (struct spinlock){0};
    lines.room = LOG_LINES; /* the reserved lines, too */
    lines.hold = 0;
}
