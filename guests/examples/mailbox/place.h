/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bare guest finds the mailbox. */
#ifndef PLACE_H
#define PLACE_H

#include "mailbox.h"

/** As the boot argument mailbox=<address, hexadecimal> says; NULL if it is not there or no place for a mailbox. */
struct mailbox *place_of_mailbox(const void *fdt);

#endif
