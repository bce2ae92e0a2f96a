/* SPDX-License-Identifier: Apache-2.0 */
/* FreeRTOS includes <stdlib.h> but uses only what <stddef.h> defines. */
#ifndef GUEST_STDLIB_H
#define GUEST_STDLIB_H

#include <stddef.h>

#endif
