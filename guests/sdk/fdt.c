/* SPDX-License-Identifier: Apache-2.0 */
#include "fdt.h"

#include <stdbool.h>
#include <string.h>

#define FDT_MAGIC 0xd00dfeedU
#define FDT_BEGIN_NODE 1U
#define FDT_END_NODE 2U
#define FDT_PROP 3U
#define FDT_NOP 4U

#define FDT_SIZE_MIN 40U       /* the header alone */
#define FDT_SIZE_MAX 0x200000U /* more is no device tree of a machine */

/* Byte offsets in the header. */
#define FDT_TOTAL_SIZE 4U
#define FDT_STRUCT_OFFSET 8U
#define FDT_STRINGS_OFFSET 12U

struct fdt_walk {
    const uint8_t *base;
    uint32_t size;    /* of the whole tree */
    uint32_t at;      /* offset of the next token */
    uint32_t strings; /* offset of the strings block */
    uint32_t depth;   /* 1 in the root, 2 in its children */
    bool inside;      /* in the node looked for */
};

/* Big-endian word at a byte offset; beyond the end 0, which is no token and so ends every walk. */
static uint32_t fdt_word(const struct fdt_walk *walk, uint32_t offset)
{
    const uint8_t *p = walk->base + offset;

    if (offset > walk->size - 4U) {
        return 0;
    }
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/* Text at an offset, or NULL when it does not end inside the tree. */
static const char *fdt_text(const struct fdt_walk *walk, uint32_t offset)
{
    for (uint32_t end = offset; end < walk->size; end++) {
        if (walk->base[end] == '\0') {
            return (const char *)walk->base + offset;
        }
    }
    return NULL;
}

static uint32_t fdt_align(uint32_t offset)
{
    return (offset + 3U) & ~UINT32_C(3);
}

static bool fdt_enter(struct fdt_walk *walk, const char *node)
{
    const char *name = fdt_text(walk, walk->at);

    if (name == NULL) {
        return false;
    }
    walk->depth++;
    if (walk->depth == 2) {
        walk->inside = strcmp(name, node) == 0;
    }
    walk->at = fdt_align(walk->at + (uint32_t)strlen(name) + 1U);
    return true;
}

/* False at the end of the root, or of nothing at all. */
static bool fdt_leave(struct fdt_walk *walk)
{
    if (walk->depth <= 1) {
        return false;
    }
    if (walk->depth == 2) {
        walk->inside = false;
    }
    walk->depth--;
    return true;
}

/* At a property: its value when it is the one, else NULL; steps behind it. */
static const void *fdt_visit(struct fdt_walk *walk, const char *property, uint32_t *length)
{
    uint32_t bytes = fdt_word(walk, walk->at);
    const char *name = fdt_text(walk, walk->strings + fdt_word(walk, walk->at + 4U));
    const uint8_t *value = walk->base + walk->at + 8U;

    if (walk->at > walk->size - 8U || bytes > walk->size - walk->at - 8U || name == NULL) {
        walk->at = walk->size; /* not a tree we can trust: end the walk */
        return NULL;
    }
    walk->at = fdt_align(walk->at + 8U + bytes);
    if (!walk->inside || walk->depth != 2 || strcmp(name, property) != 0) {
        return NULL;
    }
    *length = bytes;
    return value;
}

/* One token. False: the walk is over; *found then says whether well. */
static bool fdt_step(struct fdt_walk *walk, const char *node, const char *property, uint32_t *length,
                     const void **found)
{
    uint32_t token = fdt_word(walk, walk->at);

    walk->at += 4U;
    switch (token) {
    case FDT_BEGIN_NODE:
        return fdt_enter(walk, node);
    case FDT_END_NODE:
        return fdt_leave(walk);
    case FDT_PROP:
        *found = fdt_visit(walk, property, length);
        return *found == NULL;
    case FDT_NOP:
        return true;
    default:
        return false;
    }
}

const void *fdt_property(const void *fdt, const char *node, const char *property, uint32_t *length)
{
    struct fdt_walk walk = {.base = fdt, .size = 12U};
    const void *found = NULL;

    if (fdt == NULL || fdt_word(&walk, 0) != FDT_MAGIC) {
        return NULL;
    }
    walk.size = fdt_word(&walk, FDT_TOTAL_SIZE);
    if (walk.size < FDT_SIZE_MIN || walk.size > FDT_SIZE_MAX) {
        return NULL;
    }
    walk.at = fdt_word(&walk, FDT_STRUCT_OFFSET);
    walk.strings = fdt_word(&walk, FDT_STRINGS_OFFSET);
    while (fdt_step(&walk, node, property, length, &found)) {
    }
    return found;
}

/* The word after this one, or the end of the text. */
static const char *fdt_next_word(const char *text)
{
    while (*text != '\0' && *text != ' ') {
        text++;
    }
    while (*text == ' ') {
        text++;
    }
    return text;
}

/* Where the value of `key=value` begins, or NULL. */
static const char *fdt_find_key(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (; *text != '\0'; text = fdt_next_word(text)) {
        if (strncmp(text, key, length) == 0 && text[length] == '=') {
            return text + length + 1;
        }
    }
    return NULL;
}

const char *fdt_bootarg(const void *fdt, const char *key, char *value, size_t size)
{
    uint32_t length = 0;
    const char *text = fdt_property(fdt, "chosen", "bootargs", &length);
    size_t used = 0;

    if (text == NULL || length == 0 || text[length - 1] != '\0') {
        return NULL;
    }
    text = fdt_find_key(text, key);
    if (text == NULL) {
        return NULL;
    }
    for (; *text != '\0' && *text != ' ' && used + 1 < size; text++) {
        value[used++] = *text;
    }
    value[used] = '\0';
    return value;
}
