/* SPDX-License-Identifier: Apache-2.0 */
/* The version of Tessera, which CHANGELOG.md describes: semantic versioning of what guests and
 * system files see. */
#ifndef VERSION_H
#define VERSION_H

#define TESSERA_VERSION "0.2.0"
#define TESSERA_VERSION_NUMBER 0x000200UL /* major << 16 | minor << 8 | patch */

#endif
