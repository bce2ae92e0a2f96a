# SPDX-License-Identifier: Apache-2.0
"""The blocks of the shared devices to synthesize, for 16 VMs."""

from synth import Block

BLOCKS = [
    Block(top="io_channel", name="io_channel-16vm", parameters={"NumVms": 16}),
    Block(top="io_ring", name="io_ring-16vm", parameters={"NumVms": 16}),
    Block(top="io_arbiter", name="io_arbiter-16vm", parameters={"NumVms": 16}),
    Block(top="io_budget", name="io_budget-16vm", parameters={"NumVms": 16}),
    Block(top="io_complete", name="io_complete-16vm", parameters={"NumVms": 16, "NumChannels": 4}),
    Block(top="io_dma", name="io_dma-8", parameters={"NumClients": 8}),
    Block(top="io_manager", name="io_manager-16vm", parameters={"NumVms": 16}),
    Block(top="io_pages", name="io_pages-16vm", parameters={"NumVms": 16}),
    Block(top="io_guard", name="io_guard-16vm", parameters={"NumVms": 16}),
    Block(top="flash_unit", name="flash_unit-16vm", parameters={"NumVms": 16}),
    Block(top="ethernet_unit", name="ethernet_unit-16vm", parameters={"NumVms": 16}),
    Block(top="io_reader"),
    Block(top="io_writer"),
    Block(top="io_copy"),
    Block(top="io_flash", name="io_flash-16vm", parameters={"NumVms": 16}),
    Block(top="spi_face", name="spi_face-16vm", parameters={"NumVms": 16}),
    Block(top="io_ethernet", name="io_ethernet-16vm", parameters={"NumVms": 16}),
    Block(top="io_display", name="io_display-16vm", parameters={"NumVms": 16}),
    Block(top="io_uart", name="io_uart-16vm", parameters={"NumVms": 16}),
    Block(top="gpio_processor", name="gpio_processor-16vm", parameters={"NumVms": 16}),
]
