/* SPDX-License-Identifier: Apache-2.0 */
/* The little of printf that the hypervisor's own lines need. */
#include <stdarg.h>

#include "lib.h"

struct spec {
    unsigned width;
    bool left, zero, wide;
};

struct sink {
    void (*put)(void *arg, char c);
    void *arg;
};

static void put_padded(const struct sink *to, const struct spec *spec, const char *s, unsigned len)
{
    char pad = spec->zero && !spec->left ? '0' : ' ';

    for (unsigned i = len; i < spec->width && !spec->left; i++) {
        to->put(to->arg, pad);
    }
    for (unsigned i = 0; i < len; i++) {
        to->put(to->arg, s[i]);
    }
    for (unsigned i = len; i < spec->width && spec->left; i++) {
        to->put(to->arg, ' ');
    }
}

static void put_string(const struct sink *to, const struct spec *spec, const char *s)
{
    unsigned len = 0;

    while (s[len] != '\0') {
        len++;
    }
    put_padded(to, spec, s, len);
}

static void put_number(const struct sink *to, const struct spec *spec, ulong value, unsigned base, bool negative)
{
    char digits[24];
    unsigned at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    if (negative) {
        digits[--at] = '-';
    }
    put_padded(to, spec, &digits[at], (unsigned)sizeof(digits) - at);
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

/* The arguments travel in a struct so that va_arg in here advances the caller's list on every ABI. */
struct args {
    va_list ap;
};

static void put_signed(const struct sink *to, const struct spec *spec, struct args *args)
{
    long value = spec->wide ? va_arg(args->ap, long) : va_arg(args->ap, int);

    put_number(to, spec, value < 0 ? 0UL - (ulong)value : (ulong)value, 10, value < 0);
}

static void put_arg(const struct sink *to, const struct spec *spec, char type, struct args *args)
{
    char c = type;

    switch (type) {
    case 's':
        put_string(to, spec, va_arg(args->ap, const char *));
        return;
    case 'd':
        put_signed(to, spec, args);
        return;
    case 'u':
    case 'x':
        put_number(to, spec, spec->wide ? va_arg(args->ap, ulong) : va_arg(args->ap, unsigned), type == 'u' ? 10 : 16,
                   false);
        return;
    case 'c':
        c = (char)va_arg(args->ap, int);
        put_padded(to, spec, &c, 1);
        return;
    default: /* "%%", and a type nobody knows shows itself */
        put_padded(to, spec, &c, 1);
        return;
    }
}

void format(void (*put)(void *arg, char c), void *arg, const char *fmt, va_list ap)
{
    struct sink to = {put, arg};
    struct args args;
    struct spec spec;

    va_copy(args.ap, ap);
    for (; *fmt != '\0'; fmt++) {
        if (*fmt != '%') {
            put(arg, *fmt);
            continue;
        }
        fmt = parse_spec(fmt + 1, &spec);
        if (*fmt == '\0') {
            break;
        }
        put_arg(&to, &spec, *fmt, &args);
    }
    va_end(args.ap);
}
