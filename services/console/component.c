/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

#include "console_parts.h"

COMPONENT(console, .console = &keys_part);
