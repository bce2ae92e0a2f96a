/* SPDX-License-Identifier: Apache-2.0 */
/* lwIP includes <stdio.h>, but in this configuration it uses nothing of it. */
#ifndef GUEST_STDIO_H
#define GUEST_STDIO_H

#endif
