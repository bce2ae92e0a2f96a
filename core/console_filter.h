/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM may send to a terminal that it shares: printable text (ASCII and UTF-8), tabs, colours (SGR), erasing to the
 * end of the line, inserting and deleting characters in it, and moving the cursor within it. All other control
 * characters and escape sequences (ECMA-48) are swallowed, so that the terminal neither answers a VM nor changes its
 * state for the others.
 */
#ifndef CONSOLE_FILTER_H
#define CONSOLE_FILTER_H

#include "types.h"

#define FILTER_ESC '\033'
#define FILTER_LONGEST 40U  /* characters of a sequence that passes */
#define FILTER_STRING 4096U /* characters of a control string that are swallowed before text begins again */

struct filter {
    uint8_t state;     /* of console_filter.c; 0: between characters */
    uint8_t held;      /* characters of an incomplete sequence, which the caller keeps */
    uint8_t more;      /* bytes that a UTF-8 character still lacks */
    uint8_t low, high; /* the next of these bytes is in this range */
    bool list;         /* the control sequence has several parameters */
    uint16_t count;    /* its last parameter; or the length of a control string so far */
};

enum filter_verdict {
    FILTER_DROP, /* the character is not shown */
    FILTER_HOLD, /* it is part of an incomplete sequence: the caller keeps it behind those held, and counts it in `held` */
    FILTER_PASS,  /* it is shown, after those held */
    FILTER_LEFT,  /* the cursor moves left by `count` cells, at least 1 */
    FILTER_RIGHT, /* the same to the right */
};

/* Decides about the next character *c, neither CR nor LF, and may replace it by another. What was held is forgotten by the
 * caller if `held` is 0 afterwards, or if the verdict is neither FILTER_HOLD nor FILTER_PASS. */
enum filter_verdict filter_next(struct filter *f, char *c);

/* Whether a sequence of several characters may begin with `c`, or `c` moves the cursor. */
static inline bool filter_begins(char c)
{
    return c == FILTER_ESC || c == '\b' || (uint8_t)c >= 0xc2U;
}

#endif
