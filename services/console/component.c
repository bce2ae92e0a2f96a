/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the console's own keys and lists. */
#include "component.h"

#include "console_parts.h"

COMPONENT(console, .console = &keys_part);
