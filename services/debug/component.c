/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the debugger's requests at the console: frames.c receives them as typed characters and
 * session.c carries them out. */
#include "component.h"

#include "session.h"

COMPONENT(debug, .console = &frames_part);
