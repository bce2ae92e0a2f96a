/* SPDX-License-Identifier: Apache-2.0 */
/* The manager's state, which every file of this folder uses: accel.h says what guards each field.
 * boot.c sets it up. */
#include "accel.h"

struct accel_manager accels; /* owner: this file */
