/* SPDX-License-Identifier: Apache-2.0 */
/* Where the simulated fabric is (docs/fabric.md): platform_fabric of platform.h. board.dts has the
 * same address for the image builder. */
#include "fabric_map.h"
#include "platform.h"

const struct platform_device platform_fabric = {0x18000000U, FABRIC_SPAN};
