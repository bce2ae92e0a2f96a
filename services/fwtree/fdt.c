/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a flattened device tree that is not trusted (fdt.h), token by token. The position is the
 * caller's; no state of its own. */
#include "fdt.h"

#define HEADER_STRUCT 8U
#define HEADER_STRINGS 12U

enum {
    TOKEN_BEGIN_NODE = 1,
    TOKEN_END_NODE = 2,
    TOKEN_PROP = 3,
    TOKEN_NOP = 4
};

uint64_t fdt_number(const uint8_t *value, unsigned cells)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < 4U * cells; i++) {
        number = number << 8 | value[i];
    }
    return number;
}

void fdt_open(struct fdt *t, const uint8_t *bytes, uint32_t size)
{
    *t = (struct fdt){.bytes = bytes, .size = size, .at = size, .strings = size};
    if (size >= FDT_HEADER_SIZE) {
        uint32_t at = (uint32_t)fdt_number(bytes + HEADER_STRUCT, 1);
        uint32_t strings = (uint32_t)fdt_number(bytes + HEADER_STRINGS, 1);

        t->at = at <= size ? at : size;
        t->strings = strings <= size ? strings : size;
    }
}

static bool next_word(struct fdt *t, uint32_t *word)
{
    if (t->size - t->at < 4U) {
        return false;
    }
    *word = (uint32_t)fdt_number(t->bytes + t->at, 1);
    t->at += 4U;
    return true;
}

/* Skips `count` bytes and padding. */
static bool skip(struct fdt *t, uint32_t count)
{
    if (count > t->size - t->at || -count % 4U > t->size - t->at - count) {
        return false;
    }
    t->at += count + -count % 4U;
    return true;
}

/* The string at offset `at` up to its terminator, or NULL if it has none; *length: without the
 * terminator. */
static const char *text_at(const struct fdt *t, uint32_t at, uint32_t *length)
{
    for (uint32_t end = at; end < t->size; end++) {
        if (t->bytes[end] == 0) {
            *length = end - at;
            return (const char *)t->bytes + at;
        }
    }
    return NULL;
}

static bool enter_node(struct fdt *t, struct fdt_item *item)
{
    uint32_t length;

    item->kind = FDT_NODE;
    item->name = text_at(t, t->at, &length);
    return item->name != NULL && skip(t, length + 1U);
}

static bool enter_property(struct fdt *t, struct fdt_item *item)
{
    uint32_t name, length;

    item->kind = FDT_PROPERTY;
    if (!next_word(t, &item->length) || !next_word(t, &name) || name > t->size - t->strings) {
        return false;
    }
    item->name = text_at(t, t->strings + name, &length);
    item->value = t->bytes + t->at;
    return item->name != NULL && skip(t, item->length);
}

bool fdt_next(struct fdt *t, struct fdt_item *item)
{
    uint32_t token = TOKEN_NOP;

    *item = (struct fdt_item){.kind = FDT_NODE_END};
    while (token == TOKEN_NOP) {
        if (!next_word(t, &token)) {
            return false;
        }
    }
    switch (token) {
    case TOKEN_BEGIN_NODE:
        return enter_node(t, item);
    case TOKEN_PROP:
        return enter_property(t, item);
    default:
        return token == TOKEN_END_NODE;
    }
}

bool fdt_equal(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}

bool fdt_list_contains(const struct fdt_item *property, const char *text)
{
    uint32_t start = 0;

    for (uint32_t at = 0; at < property->length; at++) {
        if (property->value[at] == 0) {
            if (fdt_equal((const char *)property->value + start, text)) {
                return true;
            }
            start = at + 1U;
        }
    }
    return false;
}
