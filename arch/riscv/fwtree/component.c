/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

#include "fwtree.h"

COMPONENT(fwtree, .boot_tree = fwtree_check);
