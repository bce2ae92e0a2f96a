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
#define FDT_SIZE_MAX 0x200000U /* larger values are not plausible */

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
    bool inside;      /* in the wanted node */
};

/* Big-endian word at a byte offset; 0 beyond the end, which is not a token and so ends the walk. */
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

/* Leaves a node. False at the end of the root node and for an unbalanced tree. */
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

/* Returns the value if this property is the wanted one, otherwise NULL; advances past it. */
static const void *fdt_visit(struct fdt_walk *walk, const char *property, uint32_t *length)
{
    uint32_t bytes = fdt_word(walk, walk->at);
    const char *name = fdt_text(walk, walk->strings + fdt_word(walk, walk->at + 4U));
    const uint8_t *value = walk->base + walk->at + 8U;

    if (walk->at > walk->size - 8U || bytes > walk->size - walk->at - 8U || name == NULL) {
        walk->at = walk->size; /* corrupt tree: end the walk */
        return NULL;
    }
    walk->at = fdt_align(walk->at + 8U + bytes);
    if (!walk->inside || walk->depth != 2 || strcmp(name, property) != 0) {
        return NULL;
    }
    *length = bytes;
    return value;
}

/* Processes one token. False: the walk has ended; *found is the value, or NULL. */
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

/* Start of the value of `key=value`, or NULL. */
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

unsigned long fdt_bootarg_number(const void *fdt, const char *key, unsigned long otherwise)
{
    char text[20];
    unsigned long value = 0;

    if (fdt_bootarg(fdt, key, text, sizeof(text)) == NULL) {
        return otherwise;
    }
    for (const char *c = text; *c >= '0' && *c <= '9'; c++) {
        value = value * 10U + (unsigned long)(*c - '0');
    }
    return value;
}
