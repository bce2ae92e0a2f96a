# SPDX-License-Identifier: Apache-2.0
"""The blocks of the shared devices to synthesize, for 16 VMs, and the main ones for fewer VMs."""

from synth import Block

VMS = (1, 2, 4, 8, 16)
# The parts that UART, flash, Ethernet and display consist of, and their parameters beside the number of VMs; io_dma-8,
# which does not depend on the number of VMs, comes to them.
PARTS: dict[str, dict[str, int]] = {
    "flash_unit": {},
    "io_eth_unit": {},
    "io_uart": {},
    "io_display": {},
    "io_pages": {},
    "io_manager": {},
    "io_complete": {"NumChannels": 4},
    "io_guard": {},
    "spi_face": {},
}


def of_vms(top: str, vms: int, **parameters: int) -> Block:
    return Block(top=top, name=f"{top}-{vms}vm", parameters={"NumVms": vms, **parameters})


BLOCKS = [
    *(of_vms(top, 16) for top in ("io_channel", "io_ring", "io_arbiter", "io_budget")),
    *(of_vms(top, vms, **parameters) for top, parameters in PARTS.items() for vms in VMS),
    Block(top="io_dma", name="io_dma-8", parameters={"NumClients": 8, "Background": 0xC0}),
    *(Block(top=top) for top in ("io_reader", "io_writer", "io_copy")),
    *(of_vms(top, 16) for top in ("io_flash", "io_eth", "gpio_processor")),
]
