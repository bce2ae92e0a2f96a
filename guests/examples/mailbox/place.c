/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the mailbox in the boot arguments and its region in the device tree (place.h). */
#include "place.h"

#include <stdbool.h>

#include "fdt.h"

#define PLACE_TEXT 20U /* bytes for the boot argument */

/* Parses a hexadecimal address; 0 if it is invalid. */
static uintptr_t place_parse(const char *text)
{
    uintptr_t value = 0;

    for (; *text != '\0'; text++) {
        bool digit = *text >= '0' && *text <= '9';

        if (!digit && !(*text >= 'a' && *text <= 'f')) {
            return 0;
        }
        value = value << 4 | (uintptr_t)(*text - (digit ? '0' : 'a' - 10));
    }
    return value;
}

struct mailbox *place_of_mailbox(const void *fdt)
{
    char text[PLACE_TEXT];
    uintptr_t address = 0;

    if (fdt_bootarg(fdt, "mailbox", text, sizeof(text)) != NULL) {
        address = place_parse(text);
    }
    return address % _Alignof(struct mailbox) == 0 ? (struct mailbox *)address : NULL;
}

bool place_region(const void *fdt, unsigned int *region)
{
    uint32_t length;
    const void *number = fdt_device(fdt, "tessera,shared", "tessera,region", &length);

    if (number == NULL) {
        return false;
    }
    *region = fdt_cell(number, length, 0);
    return true;
}
