/* SPDX-License-Identifier: Apache-2.0 */
/* Where the SoC has its fabric (docs/fabric.md): platform_fabric of platform.h. The board.dts of
 * genesys2 and cva6-sim have the same address for the image builder. */
#include "fabric_map.h"
#include "platform.h"

const struct platform_device platform_fabric = {0x50000000U, FABRIC_SPAN};
