/* SPDX-License-Identifier: Apache-2.0 */
/* Console input and output of VMs, callable from Python. */
#ifndef TESTBED_CONSOLE_H
#define TESTBED_CONSOLE_H

#include <stdbool.h>

/* VM `vm` writes `size` characters, each as soon as the console is ready, to its UART or by the SBI
 * call. Characters for a UART that accepts nothing are lost. */
void testbed_write(unsigned vm, const char *text, unsigned size, bool uart);

/* The next character typed to VM `vm`, -1 if there is none. */
int testbed_typed(unsigned vm);

#endif
