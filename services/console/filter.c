/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of what VMs write to the terminal (console_filter.h), a character at a time. The state
 * is the caller's: of each VM, guarded by console_lock. */
#include "console_filter.h"

#define PARAMETER_MAX 999U
#define INVISIBLE (sizeof(invisible) / sizeof(invisible[0]))

/*
 * Characters without a glyph, in ascending order: Default_Ignorable_Code_Point of Unicode 15.1, all
 * controls of direction and format, and ends of lines. A VM could use them to begin a line without
 * its name in a program that splits at Unicode's ends of lines, to reverse a line, or to hide text.
 */
static const struct {
    uint32_t first, last; /* code points, both included */
} invisible[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},   {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

enum state {
    TEXT,
    UTF8,     /* within a multi-byte character */
    ESCAPE,   /* after ESC */
    SEQUENCE, /* after CSI (ESC [), while the sequence may still pass */
    SWALLOW,  /* in a rejected control or escape sequence, up to its final byte, at least `low` */
    STRING,   /* in OSC, DCS, APC, PM, SOS or screen's title, up to a control character */
};

/* The first byte of a character gives its length and the range of the second byte. The range
 * excludes C1 (U+0080 to U+009F), overlong forms, surrogates, and values above U+10FFFF (Unicode
 * 15, table 3-7). */
static enum filter_verdict begin_utf8(struct filter *f, uint8_t c)
{
    f->state = UTF8;
    f->more = (uint8_t)(1U + (c >= 0xe0U) + (c >= 0xf0U));
    f->point = c & (0x3fU >> f->more);
    f->low = 0x80;
    f->high = 0xbf;
    if (c == 0xc2 || c == 0xe0) {
        f->low = 0xa0;
    } else if (c == 0xed) {
        f->high = 0x9f;
    } else if (c == 0xf0) {
        f->low = 0x90;
    } else if (c == 0xf4) {
        f->high = 0x8f;
    }
    return FILTER_HOLD;
}

static enum filter_verdict text_next_byte(struct filter *f, uint8_t c)
{
    f->state = TEXT;
    f->held = 0;
    if (c >= ' ' && c < 0x7f) {
        return FILTER_PASS;
    }
    if (c == FILTER_ESC) {
        f->state = ESCAPE;
        return FILTER_HOLD;
    }
    if (c == '\b') {
        f->count = 1;
        return FILTER_LEFT;
    }
    if (c >= 0xc2 && c <= 0xf4) {
        return begin_utf8(f, c);
    }
    return c == '\t' ? FILTER_PASS : FILTER_DROP;
}

static enum filter_verdict drop_and(struct filter *f, enum state next)
{
    f->held = 0;
    f->state = (uint8_t)next;
    return FILTER_DROP;
}

static bool has_glyph(uint32_t point)
{
    unsigned i = 0;

    while (i < INVISIBLE && invisible[i].last < point) {
        i++;
    }
    return i == INVISIBLE || point < invisible[i].first;
}

static enum filter_verdict utf8_next(struct filter *f, uint8_t c)
{
    if (c < f->low || c > f->high) {
        return text_next_byte(f, c);
    }
    f->low = 0x80;
    f->high = 0xbf;
    f->point = f->point << 6 | (c & 0x3fU);
    f->more--;
    if (f->more > 0) {
        return FILTER_HOLD;
    }
    f->state = TEXT;
    return has_glyph(f->point) ? FILTER_PASS : drop_and(f, TEXT);
}

static enum filter_verdict escape_next(struct filter *f, uint8_t c)
{
    f->count = 0;
    f->list = false;
    switch (c) {
    case '[':
        f->state = SEQUENCE;
        return FILTER_HOLD;
    case ']':
    case 'P':
    case '_':
    case '^':
    case 'X':
    case 'k':
        return drop_and(f, STRING);
    default:
        f->low = '0';
        /* intermediate bytes precede the final byte */
        return drop_and(f, c < '0' ? SWALLOW : TEXT);
    }
}

/* A control sequence is complete: decides by its final byte. */
static enum filter_verdict final_byte(struct filter *f, char *c)
{
    f->state = TEXT;
    switch (*c) {
    case 'm': /* colours and other attributes */
    case '@': /* insert characters */
    case 'P': /* delete characters */
        return FILTER_PASS;
    case 'C':
        return FILTER_RIGHT;
    case 'D':
        return FILTER_LEFT;
    case 'J': /* erase to the end of the screen: the VM may only erase its line */
        *c = 'K';
        __attribute__((fallthrough));
    case 'K': /* erase to the end of the line; the VM's name is before it */
        return f->count == 0 && !f->list ? FILTER_PASS : drop_and(f, TEXT);
    default:
        return drop_and(f, TEXT);
    }
}

static enum filter_verdict sequence_next(struct filter *f, char *c)
{
    f->low = '@';
    if (*c >= '@' && *c <= '~') {
        return final_byte(f, c);
    }
    if (*c >= '0' && *c <= '9') {
        f->count = (uint16_t)(f->count * 10U + (unsigned)(*c - '0'));
    } else if (*c == ';') {
        f->count = 0;
        f->list = true;
    } else {
        return drop_and(f, SWALLOW); /* private parameters, intermediate bytes */
    }
    return f->count <= PARAMETER_MAX && f->held + 2U < FILTER_LONGEST ? FILTER_HOLD
                                                                      : drop_and(f, SWALLOW);
}

static enum filter_verdict string_next(struct filter *f)
{
    f->count++;
    return drop_and(f, f->count < FILTER_STRING ? STRING : TEXT);
}

enum filter_verdict filter_next(struct filter *f, char *c)
{
    uint8_t byte = (uint8_t)*c;

    if (f->state == UTF8) {
        return utf8_next(f, byte);
    }
    if (f->state == TEXT || byte < ' ') { /* every control character ends a sequence */
        return text_next_byte(f, byte);
    }
    switch ((enum state)f->state) {
    case ESCAPE:
        return escape_next(f, byte);
    case SEQUENCE:
        return sequence_next(f, c);
    case SWALLOW:
        return drop_and(f, byte >= f->low && byte <= '~' ? TEXT : SWALLOW);
    default:
        return string_next(f);
    }
}

unsigned filter_length(const char *text)
{
    uint8_t c = (uint8_t)text[0];
    unsigned n = 2; /* ESC [ */

    if (c != FILTER_ESC) {
        return 1U + (c >= 0xc2U) + (c >= 0xe0U) + (c >= 0xf0U);
    }
    while (text[n] < '@') { /* parameters */
        n++;
    }
    return n + 1U;
}
