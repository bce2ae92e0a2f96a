/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a flattened device tree (Devicetree Specification 0.4, chapter 5) that need not be
 * well-formed: nothing outside of [bytes, bytes + size) is read, and a malformed tree ends where it
 * is malformed.
 */
#ifndef FDT_H
#define FDT_H

#include "types.h"

#define FDT_HEADER_SIZE 40U

/* A position in a tree. */
struct fdt {
    const uint8_t *bytes; /* of the tree */
    uint32_t size;        /* bytes */
    uint32_t at;          /* offset of the next token; at most `size` */
    uint32_t strings;     /* offset of the property names; at most `size` */
};

enum fdt_kind {
    FDT_NODE,
    FDT_PROPERTY,
    FDT_NODE_END
};

struct fdt_item {
    enum fdt_kind kind;
    const char *name;     /* of a node or property, inside the tree */
    const uint8_t *value; /* of a property */
    uint32_t length;      /* of the value, bytes */
};

/* Prepares reading a tree of `size` bytes. */
void fdt_open(struct fdt *t, const uint8_t *bytes, uint32_t size);

/* Reads the next item. False at the end, or where the tree is malformed. */
bool fdt_next(struct fdt *t, struct fdt_item *item);

/* The big-endian number of `cells` cells at `value`; its highest 32-bit words are lost if there are
 * more than two. */
uint64_t fdt_number(const uint8_t *value, unsigned cells);

/* Whether two terminated strings are equal. */
bool fdt_equal(const char *a, const char *b);

/* Whether a property's value, a list of strings, has `text`. */
bool fdt_list_contains(const struct fdt_item *property, const char *text);

#endif
