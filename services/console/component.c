/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the console's own keys and lists (keys.c), as other components register theirs. Output
 * and input need no registration: core calls console.h. */
#include "component.h"

#include "console_parts.h"

COMPONENT(console, .console = &keys_part);
