/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's virt machine (hw/riscv/virt.c's memory map); board.dts has the same facts for the image builder. */
#include "platform.h"

const struct platform_info platform = {
    .name = "qemu-virt",
    .uart = {0x10000000U, 0x1000U},
    .uart_irq = 10,
    .irqchip = {0x0c000000U, 0x400000U},
    .irq_count = 96,
};
