/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The component `console`: every line shows its VM's name in its colour. Output of the VM with the
 * keyboard is shown character by character, that of other VMs line by line (or after
 * CONSOLE_FLUSH_MS if a line stays unfinished). If another VM's line interrupts a line being typed,
 * that line is drawn again below. Escape sequences are filtered (console_filter.h). One VM can have
 * the terminal alone, and a program can get all VMs' bytes.
 *
 * This header is for the operator's keys and for other components.
 */
#ifndef CONSOLE_KEYS_H
#define CONSOLE_KEYS_H

#include "console.h"

#define CONSOLE_ESCAPE 0x14 /* Ctrl-T */
#define CONSOLE_FLUSH_MS 50U
#define CONSOLE_LINE 192U /* longest line; longer ones are continued on the next */
#define CONSOLE_RAW 1024U /* most characters per console_send(); power of two */

/* A key after the escape key. Typed characters then go to `take` until it returns false or has got
 * the escape key, which is then handled as such. Called without locks. */
struct console_key {
    char key;
    bool (*take)(char c); /* NULL: none */
};

/* Work for the operator, called without locks. */
struct console_operator {
    void (*command)(char key); /* a key after the escape key that no component has; NULL: none */
    /* One step of longer work, if `waiting` lines leave room for its own. True if it did one. */
    bool (*step)(unsigned waiting);
    const bool *at_work; /* whether step() is to be called, between polling points; NULL: never */
};

/* A list, which `key` after the escape key prints. line() prints one line and returns the position
 * of the next one, 0 behind the last; the first one's position is 0. Called without locks, between
 * polling points. */
struct console_list {
    char key;
    const char *what;              /* for the operator's help */
    unsigned (*line)(unsigned at); /* NULL: none */
};

/* What a component has at the console (struct component). */
struct console_part {
    struct console_key key;
    struct console_operator commands;
    struct console_list list;
};

/* Sends `size` characters (at most CONSOLE_RAW) soon, unchanged and contiguous. False, with nothing
 * sent, if there is no room now. */
bool console_send(const char *text, unsigned size);

void console_divert(bool (*take)(char c));

/* How VMs share the UART. */
enum console_mode {
    /* Line by line, with names, filtered; the initial mode. */
    CONSOLE_LINES,
    /* Unfiltered bytes of the VM with the keyboard; other VMs' bytes are lost, and the hypervisor's
     * lines are held back. */
    CONSOLE_ALONE,
    /* For a program at the other end: unfiltered bytes of all VMs between the hypervisor's lines.
     * CONSOLE_MARK and 'A' + VM number ('a' + VM number if that VM has the keyboard) announce a
     * VM's bytes, CONSOLE_MARK '.' announces lines. CONSOLE_MARK twice is one such byte of a VM. */
    CONSOLE_CHANNELS,
};
#define CONSOLE_MARK '\037'
/* Changes the mode for what VMs write from now on. */
void console_set_mode(enum console_mode mode);

/* Ends CONSOLE_ALONE and sends `size` characters (at most CONSOLE_RAW). Returns how many characters
 * of other VMs were lost; CONSOLE_NOT_ALONE, with nothing done, in other modes. */
#define CONSOLE_NOT_ALONE (~0UL)
ulong console_end_alone(const char *text, unsigned size);

/* Sends typed characters to `vm` until the mode changes; NULL: to the VM with the keyboard. */
void console_type_to(struct vm *vm);

/* The VM with the keyboard. */
struct vm *console_focus(void);
void console_set_focus(struct vm *vm);

#endif
