/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console's parts as they know each other. console.c has the lines that VMs write and the keyboard, console_log.c the
 * hypervisor's own lines, console_out.c what stands on the terminal.
 *
 * A VM that writes a character does not wait for the terminal: it is noted down, and shown a few characters at a time,
 * whenever the UART has room and interrupts were looked at in between. All guarded by console_lock.
 */
#ifndef CONSOLE_PARTS_H
#define CONSOLE_PARTS_H

#include "console.h"
#include "console_filter.h"
#include "lib.h"
#include "spinlock.h"
#include "types.h"

extern struct spinlock console_lock; /* owner: console.c */

#define CONSOLE_MOVE '\b'  /* in a line: the cursor goes to the cell of the line that the next byte names */
#define CONSOLE_CELLS 240U /* cells of a line that the cursor can go to */

/* The lines of a VM, or its bytes as they are. */
struct source {
    const char *name;
    unsigned colour;
    unsigned len;        /* of line, as far as there is something */
    unsigned due;        /* not 0: it waits to be shown, in this order */
    struct source *next; /* waits behind it, or NULL */
    bool full;           /* it takes nothing more until it was shown */
    bool cut;            /* it was finished before its end */
    bool coloured;
    bool restart;    /* it was begun anew while it stood on the terminal */
    bool returned;   /* the last character was a carriage return */
    bool touched;    /* written to since console_flush() last looked */
    bool wants_room; /* console_refuse() said no */
    uint8_t mode;    /* what line holds: a finished or unfinished line (CONSOLE_LINES), or a VM's bytes as they are */
    uint8_t start;   /* cells that the VM's name takes on the terminal */
    uint8_t column;  /* cells between the line's begin and the cursor, at most CONSOLE_CELLS */
    struct filter filter;
    char line[CONSOLE_LINE];
    /* What came while the line was full, for a driver fills the FIFO that it found empty without a look. */
    unsigned first, behind;  /* of fifo: the next of it, and how many there are */
    char fifo[CONSOLE_FIFO]; /* a ring */
};

/* --- console.c --- */

/* Those of all VMs, an array by their numbers. */
struct source *sources(void);

/* Whose unfinished line is shown as it grows, or NULL. */
struct source *source_focused(void);

/* Which has waited longest to be shown, or NULL. */
struct source *source_first_due(void);

/* The line takes nothing more until it was shown. `cut`: its rest comes in the next one. */
void source_finish(struct source *s, bool cut);

/* The line, the first due, has been shown: there is room, for the VM once what came meanwhile follows. */
void source_clear(struct source *s);

/* Takes one of the characters that came meanwhile into the line. False: there is none, or no room. */
bool source_refill(struct source *s);

/* --- console_log.c --- */

/* The place of a line that becomes due now among all that have; not 0. */
unsigned log_order(void);

/* How many of the hypervisor's lines wait. */
unsigned log_waiting(void);

/* When the first of the hypervisor's lines became due, 0 if there is none. */
unsigned log_due(void);

/* Begins that line; it is through with when log_done(). */
void log_begin(struct text *t);
void log_done(void);

/* While `hold`, lines that are noted down from now on wait. */
void log_hold(bool hold);

/* What was kept free for a hypervisor that fails is used. */
void log_seize(void);

/* --- console_out.c --- */

/* Sends up to `count` characters, as far as the UART takes them, and sees that it interrupts if there are more, or *more
 * to do. */
void out_send(unsigned count, const bool *more);

/* The same without bounds, but for `tries` of a UART that takes nothing; ends the line that stands on the terminal. */
void out_drain(unsigned tries);

/* Whether something is being shown. */
bool out_busy(void);

/* Sends `text` before all else, as it is. False, with nothing sent, if there is no room now. */
bool out_raw(const char *text, unsigned size);

#endif
