/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces between the parts of the console: console.c has the lines of VMs and the keyboard,
 * out.c the output. The hypervisor's own lines are core's (console_log.h).
 *
 * A VM does not wait for the terminal: its characters are stored, and sent a few at a time when the
 * UART has room, with polling points in between. Everything is guarded by console_lock.
 */
#ifndef CONSOLE_PARTS_H
#define CONSOLE_PARTS_H

#include "console_filter.h"
#include "console_keys.h"
#include "console_log.h"
#include "types.h"

#define CONSOLE_MOVE '\b'  /* in a line: move the cursor to the cell given by the next byte */
#define CONSOLE_CELLS 240U /* cells of a line that the cursor can reach */

/* A VM's line, or its unfiltered bytes. */
struct source {
    const char *name;
    unsigned colour;
    unsigned len;        /* valid characters in `line` */
    unsigned due;        /* place in the order of lines to be shown, 0: none */
    struct source *next; /* next in the queue, or NULL */
    bool full;           /* takes no more characters until it has been shown */
    bool cut;            /* ended before its newline */
    bool coloured;
    bool restart;    /* restarted by a carriage return while it was shown */
    bool returned;   /* the last character was a carriage return */
    bool touched;    /* written to since the last round of console_flush() */
    bool wants_room; /* the VM waits for vuart_tx_ready() */
    uint8_t mode;    /* mode of `line`: text (CONSOLE_LINES), or unfiltered bytes */
    uint8_t start;   /* cells that the VM's name takes on the terminal */
    uint8_t column;  /* cells between the start of the line and the cursor, at most CONSOLE_CELLS */
    struct filter filter;
    char line[CONSOLE_LINE];
    /* Characters that came while the line was full: a driver that found its FIFO empty fills it
     * without checking again. */
    unsigned first, queued;  /* in fifo: index of the first, and their number */
    char fifo[CONSOLE_FIFO]; /* a ring */
};

/* --- console.c --- */

/* The sources of all VMs, an array by VM number. */
struct source *sources(void);

/* The source whose unfinished line is shown as it grows, or NULL. */
struct source *source_focused(void);

/* The source that has waited longest to be shown, or NULL. */
struct source *source_first_due(void);

/* Shows an unfinished line that has not grown for CONSOLE_FLUSH_MS, of a VM without the keyboard;
 * one per timer interrupt. */
void console_flush(void);

/* Finishes the line: it takes no more until it has been shown. `cut`: the next line continues
 * it. */
void source_finish(struct source *s, bool cut);

/* Empties the line, the first in the queue, after it was shown. The VM gets room after the
 * characters of the FIFO. */
void source_clear(struct source *s);

/* Moves a character from the FIFO to the line. False: FIFO empty or line full. */
bool source_refill(struct source *s);

/* --- out.c --- */

/* Sends up to `count` characters, as far as the UART takes them. Enables its interrupt if there are
 * more, or if *more. */
void out_send(unsigned count, const bool *more);

/* Sends everything; gives up after `tries` with a UART that takes nothing. Ends the unfinished line
 * on the terminal. */
void out_drain(unsigned tries);

/* Whether output is in progress. */
bool out_busy(void);

/* Sends `text` before all else, unchanged. False, with nothing sent, if there is no room now. */
bool out_raw(const char *text, unsigned size);

/* --- channels.c and keys.c --- */

/* A character after CONSOLE_ESCAPE and CONSOLE_MARK. */
bool channels_typed(char c);

extern const struct console_part keys_part;

#endif
