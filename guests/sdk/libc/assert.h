/* SPDX-License-Identifier: Apache-2.0 */
/* Only the assertion at compile time, for headers that are shared with hosted programs. */
#ifndef GUEST_ASSERT_H
#define GUEST_ASSERT_H

#define static_assert _Static_assert

#endif
