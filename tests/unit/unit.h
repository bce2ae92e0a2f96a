/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h requires these headers before it, in this order. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
