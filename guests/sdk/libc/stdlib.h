/* SPDX-License-Identifier: Apache-2.0 */
/* FreeRTOS includes <stdlib.h> and uses nothing of it that <stddef.h> does not have. */
#ifndef GUEST_STDLIB_H
#define GUEST_STDLIB_H

#include <stddef.h>

#endif
