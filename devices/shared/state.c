/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the shared devices, which every file of this folder uses: shared.h says what guards
 * each field. boot.c sets it up. */
#include "shared.h"

struct shared_devices shared; /* owner: this file */
