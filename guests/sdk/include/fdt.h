/* SPDX-License-Identifier: Apache-2.0 */
/* Minimal reader of a flattened device tree: one property of one child of the root. */
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
 * Word `key=value` of /chosen/bootargs: copies the value (up to a blank or the end) to `value`,
 * truncated to `size` - 1 characters. Returns `value`, or NULL if the key does not exist.
 */
const char *fdt_bootarg(const void *fdt, const char *key, char *value, size_t size);

/** The decimal number of the word `key=number` of /chosen/bootargs, up to the first other character; `otherwise` without the key. */
unsigned long fdt_bootarg_number(const void *fdt, const char *key, unsigned long otherwise);

#endif
