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
#include "lib.h"
#include "spinlock.h"
#include "types.h"

extern struct spinlock console_lock; /* owner: console.c */

/* The lines of a VM. */
struct source {
    const char *name;
    unsigned colour;
    unsigned len;   /* of line, as far as there is something */
    unsigned asked; /* how much of it has been on the terminal */
    unsigned due;  /* not 0: it is finished and waits to be shown, in this order, and takes nothing more until it was */
    bool restart;  /* it was begun anew while it stood on the terminal */
    bool returned; /* the last character was a carriage return */
    bool touched;  /* written to since console_flush() last looked */
    bool wants_room; /* console_refuse() said no */
    unsigned behind; /* of fifo */
    char line[CONSOLE_LINE];
    char fifo
        [CONSOLE_FIFO]; /* came while the line was due: a driver fills the FIFO that it found empty without a look */
};

/* --- console.c --- */

/* Those of all VMs, an array by their numbers. */
struct source *sources(void);

/* Whose unfinished line is shown as it grows, or NULL. */
struct source *source_focused(void);

/* The line of VM `id` has been shown, or is nothing any more: there is room. */
void source_clear(struct source *s);

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
