/* SPDX-License-Identifier: Apache-2.0 */
/* The subset of printf that the hypervisor's lines need, one character at a time: the console sends
 * a few and polls interrupts in between. The state is the caller's (struct text); nothing is
 * allocated. */
#include "lib.h"

/* A conversion of a format string. */
struct spec {
    unsigned width;        /* least, in characters */
    bool left, zero, wide; /* flags `-`, `0`, `l` */
};

void text_begin(struct text *t, const char *fmt, const ulong *args)
{
    *t = (struct text){.fmt = fmt, .args = args};
}

/* Sets the next output: `piece` of `len` characters, padded as the directive says. */
static void set_piece(struct text *t, const struct spec *spec, const char *piece, unsigned len)
{
    unsigned padding = spec->width > len ? spec->width - len : 0;

    t->piece = piece;
    t->len = len;
    t->pad = spec->zero && !spec->left ? '0' : ' ';
    t->before = spec->left ? 0 : padding;
    t->after = spec->left ? padding : 0;
}

static void set_string(struct text *t, const struct spec *spec, const char *s)
{
    unsigned len = 0;

    while (s[len] != '\0') {
        len++;
    }
    set_piece(t, spec, s, len);
}

static void set_number(struct text *t, const struct spec *spec, ulong value, unsigned base)
{
    unsigned at = sizeof(t->digits);

    do {
        t->digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    set_piece(t, spec, &t->digits[at], (unsigned)sizeof(t->digits) - at);
}

static void set_char(struct text *t, const struct spec *spec, char c)
{
    t->digits[0] = c;
    set_piece(t, spec, t->digits, 1);
}

static const char *parse_spec(const char *fmt, struct spec *spec)
{
    *spec = (struct spec){0};
    for (; *fmt == '-' || *fmt == '0'; fmt++) {
        spec->left |= *fmt == '-';
        spec->zero |= *fmt == '0';
    }
    for (; *fmt >= '0' && *fmt <= '9'; fmt++) {
        spec->width = spec->width * 10U + (unsigned)(*fmt - '0');
    }
    if (*fmt == 'l') {
        spec->wide = true;
        fmt++;
    }
    return fmt;
}

static void set_arg(struct text *t, const struct spec *spec, char type)
{
    switch (type) {
    case 's':
        set_string(t, spec, (const char *)*t->args++);
        return;
    case 'u':
    case 'x':
        set_number(t, spec, spec->wide ? *t->args : (unsigned)*t->args, type == 'u' ? 10 : 16);
        t->args++;
        return;
    case 'c':
        set_char(t, spec, (char)*t->args++);
        return;
    default: /* "%%"; unknown types print themselves */
        set_char(t, spec, type);
        return;
    }
}

/* The rest of a directive, or TEXT_END. */
static int piece_next(struct text *t)
{
    if (t->before > 0) {
        t->before--;
        return t->pad;
    }
    if (t->len > 0) {
        t->len--;
        return *t->piece++;
    }
    if (t->after > 0) {
        t->after--;
        return ' ';
    }
    return TEXT_END;
}

int text_next(struct text *t)
{
    for (;;) {
        struct spec spec;
        int c = piece_next(t);

        if (c != TEXT_END || *t->fmt == '\0') {
            return c;
        }
        c = *t->fmt++;
        if (c != '%') {
            return c;
        }
        t->fmt = parse_spec(t->fmt, &spec);
        if (*t->fmt != '\0') {
            set_arg(t, &spec, *t->fmt++);
        }
    }
}
