/* SPDX-License-Identifier: Apache-2.0 */
/* LiteX's boot program includes this; it needs no CSR by name. */
#ifndef CSR_DEFS_H
#define CSR_DEFS_H

#endif
