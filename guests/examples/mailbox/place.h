/* SPDX-License-Identifier: Apache-2.0 */
/* Location of the mailbox for bare-metal guests. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

#include "mailbox.h"

/**
 * The mailbox at boot argument mailbox=<address, hexadecimal>; NULL if it is missing or invalid.
 */
struct mailbox *place_of_mailbox(const void *fdt);

/** Stores the number of the VM's first shared region, for its doorbells; false if it has none. */
bool place_region(const void *fdt, unsigned int *region);

#endif
