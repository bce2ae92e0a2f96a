/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of the component's devices in the system image (struct sysimage_device). The image builder
 * reads them from here. */
#ifndef COMPAT_IMAGE_H
#define COMPAT_IMAGE_H

#define PANIC_KIND 0x43494e50U /* "PNIC" in memory order */

#endif
