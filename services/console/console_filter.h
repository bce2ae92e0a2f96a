/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM may send to a shared terminal: characters with a glyph (ASCII and UTF-8), tabs, colours
 * (SGR), erasing to the end of the line, inserting and deleting characters in it, and cursor
 * movement within it. All other control characters and escape sequences (ECMA-48) are dropped, so
 * that the terminal neither answers a VM nor changes its state for other VMs.
 */
#ifndef CONSOLE_FILTER_H
#define CONSOLE_FILTER_H

#include "types.h"

#define FILTER_ESC '\033'
#define FILTER_LONGEST 40U  /* characters of the longest sequence that passes */
#define FILTER_STRING 4096U /* dropped characters of a control string, after which text resumes */

/* Owned by the caller, who guards it. */
struct filter {
    uint8_t state;     /* enum state; 0: between characters */
    uint8_t held;      /* characters of an incomplete sequence, stored by the caller */
    uint8_t more;      /* missing bytes of a UTF-8 character */
    uint8_t low, high; /* range of the next one */
    bool list;         /* the control sequence has several parameters */
    uint32_t point;    /* the UTF-8 character's code point so far */
    uint16_t count;    /* last parameter, or length of a control string so far */
};

enum filter_verdict {
    FILTER_DROP, /* do not show the character */
    /* part of an incomplete sequence: append it to those held, and count it in `held` */
    FILTER_HOLD,
    FILTER_PASS,  /* show it, after those held */
    FILTER_LEFT,  /* move the cursor left by `count` cells, at least 1 */
    FILTER_RIGHT, /* move the cursor right by `count` cells, at least 1 */
};

/* Decides about the next character *c, neither CR nor LF, and may replace it. The caller discards
 * held characters if `held` is 0 afterwards, or if the verdict is neither FILTER_HOLD nor
 * FILTER_PASS. */
enum filter_verdict filter_next(struct filter *f, char *c);

/* Length of the character or control sequence that `text` starts with; complete, as filter_next()
 * lets it pass. At most FILTER_LONGEST. */
unsigned filter_length(const char *text);

/* Whether `c` may start a sequence of several characters, or moves the cursor. */
static inline bool filter_begins(char c)
{
    return c == FILTER_ESC || c == '\b' || (uint8_t)c >= 0xc2U;
}

#endif
