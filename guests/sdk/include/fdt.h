/* SPDX-License-Identifier: Apache-2.0 */
/* Minimal reader of a flattened device tree: one property of one child of the root, or of one
 * device. */
#ifndef GUEST_FDT_H
#define GUEST_FDT_H

#include <stddef.h>
#include <stdint.h>

/**
 * Property `property` of the root's child `node` (name without unit address, for example "chosen").
 * Returns its value and stores its length in bytes in *length. Returns NULL if the property does
 * not exist or `fdt` is not a device tree.
 */
const void *fdt_property(const void *fdt, const char *node, const char *property, uint32_t *length);

/**
 * Property `property` of the first node whose property `compatible` has this text; the node is one
 * that has both. Otherwise as fdt_property().
 */
const void *fdt_device(const void *fdt, const char *compatible, const char *property,
                       uint32_t *length);

/** The same for the `number`th of these nodes, from 0. */
const void *fdt_device_at(const void *fdt, const char *compatible, unsigned int number,
                          const char *property, uint32_t *length);

/** Big-endian cell `index` of a property's value, of `length` bytes; 0 beyond its end. */
static inline uint32_t fdt_cell(const void *value, uint32_t length, uint32_t index)
{
    const uint8_t *p = (const uint8_t *)value + 4U * index;

    if (index >= length / 4U) {
        return 0;
    }
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/** The number in the two cells from `index` on. */
static inline uint64_t fdt_cell64(const void *value, uint32_t length, uint32_t index)
{
    return (uint64_t)fdt_cell(value, length, index) << 32 | fdt_cell(value, length, index + 1U);
}

/**
 * Word `key=value` of /chosen/bootargs: copies the value (up to a blank or the end) to `value`,
 * truncated to `size` - 1 characters. Returns `value`, or NULL if the key does not exist.
 */
const char *fdt_bootarg(const void *fdt, const char *key, char *value, size_t size);

/** The decimal number of the word `key=number` of /chosen/bootargs, up to the first other
 * character; `otherwise` without the key. */
unsigned long fdt_bootarg_number(const void *fdt, const char *key, unsigned long otherwise);

#endif
