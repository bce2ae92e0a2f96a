/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the check of the firmware's device tree (check.c), which core calls at boot. The part
 * of the component that does not depend on RISC-V is services/fwtree. */
#include "component.h"

#include "fwtree.h"

COMPONENT(fwtree, .boot_tree = fwtree_check);
