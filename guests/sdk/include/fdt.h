/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough of a flattened device tree for a bare guest: one property of one node below the root. */
#ifndef GUEST_FDT_H
#define GUEST_FDT_H

#include <stddef.h>
#include <stdint.h>

/**
 * Property `property` of the root's child `node` (name without unit address, as "chosen").
 * Returns its value and stores its length in bytes in *length; NULL when there is no such property or when `fdt` is
 * not a device tree.
 */
const void *fdt_property(const void *fdt, const char *node, const char *property, uint32_t *length);

/**
 * Word `key=value` of /chosen/bootargs: copies value (ended by a blank or the end) to `value`, cut to `size` - 1
 * characters. Returns value, or NULL when the key is not there.
 */
const char *fdt_bootarg(const void *fdt, const char *key, char *value, size_t size);

#endif
