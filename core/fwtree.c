/* SPDX-License-Identifier: Apache-2.0 */
/* A hypervisor without the component `fwtree`. */
#include "fwtree.h"

COMPONENT_DEFAULT void fwtree_check(ulong tree, const struct sysimage_header *image)
{
    (void)tree, (void)image;
}
