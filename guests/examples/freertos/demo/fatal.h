/* SPDX-License-Identifier: Apache-2.0 */
/* Handler of failed assertions; separate because FreeRTOSConfig.h precedes the port's header. */
#ifndef FATAL_H
#define FATAL_H

_Noreturn void fatal_assert(const char *file, unsigned long line);

#endif
