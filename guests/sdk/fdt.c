/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a flattened device tree (fdt.h). Checks each offset against the size of the tree, which may
 * be corrupt. */
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

/* The value of the property here, past which the walk goes. NULL: the tree is corrupt, which ends
 * the walk. */
static const void *fdt_next(struct fdt_walk *walk, const char **name, uint32_t *bytes)
{
    const uint8_t *value = walk->base + walk->at + 8U;

    *bytes = fdt_word(walk, walk->at);
    *name = fdt_text(walk, walk->strings + fdt_word(walk, walk->at + 4U));
    if (walk->at > walk->size - 8U || *bytes > walk->size - walk->at - 8U || *name == NULL) {
        walk->at = walk->size;
        return NULL;
    }
    walk->at = fdt_align(walk->at + 8U + *bytes);
    return value;
}

/* Returns the value if this property is the wanted one, otherwise NULL; advances past it. */
static const void *fdt_visit(struct fdt_walk *walk, const char *property, uint32_t *length)
{
    uint32_t bytes;
    const char *name;
    const void *value = fdt_next(walk, &name, &bytes);

    if (value == NULL || !walk->inside || walk->depth != 2 || strcmp(name, property) != 0) {
        return NULL;
    }
    *length = bytes;
    return value;
}

/* Processes one token. False: the walk has ended; *found is the value, or NULL. */
static bool fdt_step(struct fdt_walk *walk, const char *node, const char *property,
                     uint32_t *length, const void **found)
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

static bool fdt_begin(struct fdt_walk *walk, const void *fdt)
{
    *walk = (struct fdt_walk){.base = fdt, .size = 12U};
    if (fdt == NULL || fdt_word(walk, 0) != FDT_MAGIC) {
        return false;
    }
    walk->size = fdt_word(walk, FDT_TOTAL_SIZE);
    if (walk->size < FDT_SIZE_MIN || walk->size > FDT_SIZE_MAX) {
        return false;
    }
    walk->at = fdt_word(walk, FDT_STRUCT_OFFSET);
    walk->strings = fdt_word(walk, FDT_STRINGS_OFFSET);
    return true;
}

const void *fdt_property(const void *fdt, const char *node, const char *property, uint32_t *length)
{
    struct fdt_walk walk;
    const void *found = NULL;

    if (fdt_begin(&walk, fdt)) {
        while (fdt_step(&walk, node, property, length, &found)) {
        }
    }
    return found;
}

/* What is known of the node that the walk is in. A node's properties come before its children. */
struct fdt_device {
    const char *compatible, *property; /* wanted */
    unsigned int before;               /* nodes that have both and are not wanted */
    bool matches;
    const void *value; /* of the property, or NULL */
    uint32_t length;
};

/* Whether a list of texts has this one. */
static bool fdt_lists(const char *list, uint32_t length, const char *wanted)
{
    size_t size = strlen(wanted) + 1U;

    for (uint32_t at = 0; at < length && size <= length - at; at++) {
        if ((at == 0 || list[at - 1U] == '\0') && memcmp(list + at, wanted, size) == 0) {
            return true;
        }
    }
    return false;
}

/* Processes a property. False: the device is found. */
static bool fdt_note(struct fdt_walk *walk, struct fdt_device *device)
{
    uint32_t bytes;
    const char *name;
    const void *value = fdt_next(walk, &name, &bytes);

    if (value == NULL) {
        return true; /* the walk ends with the next token */
    }
    device->matches = device->matches || (strcmp(name, "compatible") == 0 &&
                                          fdt_lists(value, bytes, device->compatible));
    if (strcmp(name, device->property) == 0) {
        device->value = value;
        device->length = bytes;
    }
    if (!device->matches || device->value == NULL) {
        return true;
    }
    if (device->before == 0) {
        return false;
    }
    device->before--;
    device->matches = false;
    device->value = NULL;
    return true;
}

/* As fdt_step(), in nodes of all depths. */
static bool fdt_look(struct fdt_walk *walk, struct fdt_device *device)
{
    uint32_t token = fdt_word(walk, walk->at);

    walk->at += 4U;
    if (token == FDT_PROP) {
        return fdt_note(walk, device);
    }
    if (token != FDT_NOP) {
        device->matches = false;
        device->value = NULL;
    }
    switch (token) {
    case FDT_BEGIN_NODE:
        return fdt_enter(walk, "");
    case FDT_END_NODE:
        return fdt_leave(walk);
    default:
        return token == FDT_NOP;
    }
}

const void *fdt_device_at(const void *fdt, const char *compatible, unsigned int number,
                          const char *property, uint32_t *length)
{
    struct fdt_device device = {.compatible = compatible, .property = property, .before = number};
    struct fdt_walk walk;

    if (fdt_begin(&walk, fdt)) {
        while (fdt_look(&walk, &device)) {
        }
    }
    *length = device.length;
    return device.value;
}

const void *fdt_device(const void *fdt, const char *compatible, const char *property,
                       uint32_t *length)
{
    return fdt_device_at(fdt, compatible, 0, property, length);
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
