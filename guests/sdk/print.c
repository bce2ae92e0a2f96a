/* SPDX-License-Identifier: Apache-2.0 */
/* Formats text for the UART or for a buffer (print.h). Owns no state. */
#include "print.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "uart.h"

#define PRINT_DIGITS 20U /* of the largest 64-bit number in decimal */

/* Destination of characters: a buffer, or the UART if buffer is NULL. */
struct print_sink {
    char *buffer;
    size_t size;
    size_t length; /* characters so far, including those that did not fit */
};

/* One conversion of a format string, as parsed. */
struct print_spec {
    bool left;
    bool zeros;
    unsigned int longs; /* how many l */
    unsigned int width;
};

static void print_char(struct print_sink *sink, char c)
{
    if (sink->buffer == NULL) {
        uart_put_text(c);
    } else if (sink->length + 1 < sink->size) {
        sink->buffer[sink->length] = c;
    }
    sink->length++;
}

static void print_repeat(struct print_sink *sink, char c, size_t count)
{
    while (count-- > 0) {
        print_char(sink, c);
    }
}

/* Prints `text` in a field; a sign is put before padding zeros and after padding blanks. */
static void print_field(struct print_sink *sink, const struct print_spec *spec, const char *sign,
                        const char *text, size_t length)
{
    size_t used = length + strlen(sign);
    size_t padding = spec->width > used ? spec->width - used : 0;

    if (!spec->left && !spec->zeros) {
        print_repeat(sink, ' ', padding);
    }
    while (*sign != '\0') {
        print_char(sink, *sign++);
    }
    if (!spec->left && spec->zeros) {
        print_repeat(sink, '0', padding);
    }
    for (size_t i = 0; i < length; i++) {
        print_char(sink, text[i]);
    }
    if (spec->left) {
        print_repeat(sink, ' ', padding);
    }
}

static void print_number(struct print_sink *sink, const struct print_spec *spec, const char *sign,
                         uint64_t value, unsigned int base)
{
    char digits[PRINT_DIGITS];
    size_t start = PRINT_DIGITS;

    do {
        digits[--start] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    print_field(sink, spec, sign, digits + start, PRINT_DIGITS - start);
}

static void print_signed(struct print_sink *sink, const struct print_spec *spec, int64_t value)
{
    uint64_t magnitude = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;

    print_number(sink, spec, value < 0 ? "-" : "", magnitude, 10);
}

static const char *print_parse(const char *format, struct print_spec *spec)
{
    *spec = (struct print_spec){.left = false};
    for (;; format++) {
        if (*format == '-') {
            spec->left = true;
        } else if (*format == '0') {
            spec->zeros = true;
        } else {
            break;
        }
    }
    for (; *format >= '0' && *format <= '9'; format++) {
        spec->width = spec->width * 10 + (unsigned int)(*format - '0');
    }
    for (; *format == 'l'; format++) {
        spec->longs++;
    }
    return format;
}

/* Wraps va_list, which may be an array type and would then decay to a pointer as a parameter. */
struct print_args {
    va_list list;
};

static uint64_t print_unsigned_arg(const struct print_spec *spec, struct print_args *args)
{
    if (spec->longs > 1) {
        return va_arg(args->list, unsigned long long);
    }
    return spec->longs == 1 ? va_arg(args->list, unsigned long) : va_arg(args->list, unsigned int);
}

static int64_t print_signed_arg(const struct print_spec *spec, struct print_args *args)
{
    if (spec->longs > 1) {
        return va_arg(args->list, long long);
    }
    return spec->longs == 1 ? va_arg(args->list, long) : va_arg(args->list, int);
}

static void print_convert(struct print_sink *sink, char conversion, const struct print_spec *spec,
                          struct print_args *args)
{
    const char *text;
    char c;

    switch (conversion) {
    case 'd':
        print_signed(sink, spec, print_signed_arg(spec, args));
        break;
    case 'u':
        print_number(sink, spec, "", print_unsigned_arg(spec, args), 10);
        break;
    case 'x':
        print_number(sink, spec, "", print_unsigned_arg(spec, args), 16);
        break;
    case 's':
        text = va_arg(args->list, const char *);
        print_field(sink, spec, "", text, strlen(text));
        break;
    case 'c':
        c = (char)va_arg(args->list, int);
        print_field(sink, spec, "", &c, 1);
        break;
    default: /* %% and unknown conversions: print the character */
        print_char(sink, conversion);
        break;
    }
}

static void print_format(struct print_sink *sink, const char *format, struct print_args *args)
{
    struct print_spec spec;

    for (; *format != '\0'; format++) {
        if (*format != '%') {
            print_char(sink, *format);
            continue;
        }
        format = print_parse(format + 1, &spec);
        if (*format == '\0') {
            return;
        }
        print_convert(sink, *format, &spec, args);
    }
}

void print(const char *format, ...)
{
    struct print_sink sink = {.buffer = NULL};
    struct print_args args;

    va_start(args.list, format);
    print_format(&sink, format, &args);
    va_end(args.list);
}

size_t print_buffer_args(char *buffer, size_t size, const char *format, va_list list)
{
    struct print_sink sink = {.buffer = buffer, .size = size};
    struct print_args args;

    va_copy(args.list, list);
    print_format(&sink, format, &args);
    va_end(args.list);
    if (size > 0) {
        buffer[sink.length < size ? sink.length : size - 1] = '\0';
    }
    return sink.length;
}

size_t print_buffer(char *buffer, size_t size, const char *format, ...)
{
    va_list list;
    size_t length;

    va_start(list, format);
    length = print_buffer_args(buffer, size, format, list);
    va_end(list);
    return length;
}
