/* SPDX-License-Identifier: Apache-2.0 */
/* Where failed assertions go; apart from the port's header because FreeRTOSConfig.h comes before that. */
#ifndef FATAL_H
#define FATAL_H

_Noreturn void fatal_assert(const char *file, unsigned long line);

#endif
