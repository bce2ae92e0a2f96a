/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the debugger's requests at the console. */
#include "component.h"

#include "session.h"

COMPONENT(debug, .console = &frames_part);
