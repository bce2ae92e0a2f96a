/* SPDX-License-Identifier: Apache-2.0 */
/* VMs at the console, for Python. */
#ifndef TESTBED_CONSOLE_H
#define TESTBED_CONSOLE_H

#include <stdbool.h>

/* VM `vm` writes `size` characters, each as soon as there is room, to its UART or by the firmware's call. What
 * finds no room in a UART that takes nothing is lost. */
void testbed_write(unsigned vm, const char *text, unsigned size, bool uart);

/* What was typed to VM `vm` since the last call: the next character, -1 if there is none. */
int testbed_typed(unsigned vm);

#endif
