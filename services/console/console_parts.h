/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces between the parts of the console: source.c has the lines of VMs, out.c the output,
 * console.c the keyboard and what starts output. The hypervisor's own lines are core's
 * (console_log.h).
 *
 * A VM does not wait for the terminal: its characters are stored, and sent a few at a time when the
 * UART has room, with polling points in between. Everything is guarded by console_lock.
 */
#ifndef CONSOLE_PARTS_H
#define CONSOLE_PARTS_H

#include "console_filter.h"
#include "console_keys.h"
#include "console_log.h"
#include "sysimage.h"
#include "types.h"

#define CONSOLE_MOVE '\b'  /* in a line: move the cursor to the cell given by the next byte */
#define CONSOLE_CELLS 240U /* cells of a line that the cursor can reach */

/* A VM's line, or its unfiltered bytes. */
struct source {
    const char *name;    /* of the VM */
    unsigned colour;     /* of the name: ANSI foreground, 31 .. 37 or 91 .. 97 */
    unsigned len;        /* valid characters in `line` */
    unsigned due;        /* place in the order of lines to be shown, 0: none */
    struct source *next; /* next in the queue, or NULL */
    bool full;           /* takes no more characters until it has been shown */
    bool cut;            /* ended before its newline */
    bool coloured;       /* has an escape sequence, so its end resets the terminal's attributes */
    bool restart;        /* restarted by a carriage return while it was shown */
    bool returned;       /* the last character was a carriage return */
    bool touched;        /* written to since the last round of console_flush() */
    bool wants_room;     /* the VM waits for vuart_tx_ready() */
    uint8_t mode;        /* mode of `line`: text (CONSOLE_LINES), or unfiltered bytes */
    uint8_t start;       /* cells that the VM's name takes on the terminal */
    uint8_t column; /* cells between the start of the line and the cursor, at most CONSOLE_CELLS */
    struct filter filter;    /* its state after the VM's last character */
    char line[CONSOLE_LINE]; /* `len` characters, then those that the filter holds */
    /* Characters that came while the line was full: a driver that found its FIFO empty fills it
     * without checking again. */
    unsigned first, queued;  /* in fifo: index of the first, and their number */
    char fifo[CONSOLE_FIFO]; /* a ring */
};

/* The lines of all VMs, what is shown first, and how. Guarded by console_lock. */
struct sources {
    struct source vms[SYSIMAGE_MAX_VMS]; /* by VM number */
    struct source *first_due;            /* queue of sources with a line to be shown, or NULL */
    struct source *last_due;             /* its tail; valid only if there is a head */
    struct vm *focus;                    /* VM with the keyboard, or NULL */
    enum console_mode mode;              /* of lines that begin from now on */
    ulong dropped;                       /* lost characters of VMs without the terminal */
    bool notify;                         /* VMs may have room now, or an operator may have work */
};

extern struct sources sources; /* owner: source.c */

/* --- source.c; called with console_lock held --- */

/* At boot: names and colours of all VMs; the keyboard's VM is the system's. */
void sources_init(void);

/* The source whose unfinished line is shown as it grows, or NULL. */
struct source *source_focused(void);

struct vm *source_vm(const struct source *s);

/* Adds a new character, which does not overtake characters in the FIFO. False if there is no
 * room. */
bool source_putc(struct source *s, char c);

/* Whether the last character that the VM wrote is within a line. */
bool source_is_unfinished(const struct source *s);

/* Finishes the line: it takes no more until it has been shown. `cut`: the next line continues
 * it. */
void source_finish(struct source *s, bool cut);

/* Empties the line, the first in the queue, after it was shown. The VM gets room after the
 * characters of the FIFO. */
void source_clear(struct source *s);

/* Moves a character from the FIFO to the line. False: FIFO empty or line full. */
bool source_refill(struct source *s);

/* Ends the line of the old mode. Its rest is shown in the new mode, or lost if one VM gets the
 * terminal alone. Nothing more is shown of a VM that had the terminal alone. */
void source_change(struct source *s, enum console_mode mode);

/* --- console.c --- */

/* Shows an unfinished line that has not grown for CONSOLE_FLUSH_MS, of a VM without the keyboard;
 * one per timer interrupt. */
void console_flush(void);

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
