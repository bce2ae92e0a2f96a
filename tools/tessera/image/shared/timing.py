# SPDX-License-Identifier: Apache-2.0
"""Times of the shared devices, in cycles.

Admission counts the longest chunk of a device for the jobs of RT apps. It follows from commands, bytes, states of the
hardware (fpga/hw/rtl/io) and bursts at memory that wait for those of all other clients.
tests/cosim/test_shared_delays.py runs the hardware beside VMs that make its chunks long.
"""

from collections.abc import Iterable

from tessera.image.model import SharedDevices
from tessera.image.shared import shared_image
from tessera.image.validate import Read

# The flash (S25FL128S).
PAGE = 256
DESELECT_NS = 100  # between two commands; the S25FL128S needs 50
SUSPEND_NS = 45_000  # from the command that suspends an operation
LONGEST_WRITE_US = 2 * 650_000  # a turn that ends an erase which a stop or a timeout has left, before its own
HEAD = 4  # bytes of a command and its address
# Around a chunk's own command: continue two others, the status of each, enable, suspend, the status around it.
OTHER_BYTES, OTHER_COMMANDS = 2 * (1 + 2) + 1 + 1 + 2 + 2, 8
COMMAND = 8  # cycles of a command beside its bytes

# Ethernet: preamble, frame, VLAN tag, FCS and gap; a byte of the wire takes a cycle.
FRAME = 8 + 1514 + 4 + 4 + 12
# What is left of a frame on the wire when its chunk ends (Ahead of io_eth).
FRAME_TAIL = 8 + 112 + 4 + 12
CHUNK = 32  # cycles of a chunk beside its bytes and bursts


def flash_half(node: Read, hardware: SharedDevices) -> int:
    """Returns half a period of SCK."""
    return -(-hardware.clock_hz // (2 * node["sck-hz"]))


def flash_deselect(hardware: SharedDevices) -> int:
    """Returns the time between two commands of the flash."""
    return -(-hardware.clock_hz * DESELECT_NS // 10**9)


def slowest_burst(names: Iterable[str], hardware: SharedDevices) -> int:
    """Returns the longest time of a burst, with one of each other client of memory before it, if the system uses the
    devices `names`. For copies, which let others pass, see _data_burst()."""
    used = set(names)
    completions = 1 if any(shared_image.channel(name) is not None for name in used) else 0
    return (sum(shared_image.DMA_CLIENTS.get(name, 0) for name in used) + completions) * hardware.burst_cycles


def _data_burst(name: str, burst: int, hardware: SharedDevices) -> int:
    """Returns the longest time of a burst of a chunk's data. One of a copy lets others pass, also if they are of few
    devices: as many as the hardware has clients beside copies (MaxPassing of io_dma)."""
    return (sum(shared_image.DMA_CLIENTS.values()) + 1) * hardware.burst_cycles if name == "copy" else burst


def _bursts(size: int) -> int:
    """Returns the most bursts for bytes at any address: a burst ends where a block of memory ends."""
    return -(-size // shared_image.BURST_BYTES) + 1


def _flash(node: Read, burst: int, hardware: SharedDevices) -> int:
    """A read, or a program operation that is suspended. Before, either may end two others, which takes two slices."""
    byte, command = 16 * flash_half(node, hardware), flash_deselect(hardware) + COMMAND
    slices = 2 * hardware.cycles(node["slice-us"])
    suspend = -(-SUSPEND_NS * hardware.clock_hz // 10**9)
    data = max(node["chunk"], PAGE)
    bytes_sent, commands = HEAD + data + OTHER_BYTES, 1 + OTHER_COMMANDS
    return bytes_sent * byte + commands * command + slices + suspend + _bursts(data) * burst


def _completion(burst: int) -> int:
    """The completions of all channels are written one by one."""
    return shared_image.CHANNELS * burst


def chunk_cycles(name: str, node: Read, burst: int, hardware: SharedDevices) -> int:
    """Returns the longest time that an arbiter charges for a chunk: the comparison before it, the device, and the wait
    for its completion. `burst`: slowest_burst()."""
    data = _data_burst(name, burst, hardware)
    if name == "flash":
        device = _flash(node, data, hardware)
    elif name == "copy":
        device = node["chunk"] + 2 * _bursts(node["chunk"]) * data
    else:  # a frame, behind the rest of the frame before it
        device = FRAME_TAIL + FRAME + _bursts(FRAME) * data
    return hardware.vms + 2 + CHUNK + device + _completion(burst)


def wait_cycles(name: str, node: Read, burst: int, hardware: SharedDevices) -> int:
    """Returns the longest time for which a chunk waits: for a comparison of all VMs (of io_arbiter), and with its
    bursts and its completion. A frame also waits for the rest of the frame before it. devices/shared/delay.c counts two
    waits more than a request has chunks: one of them is the time until the frame's own rest is on the wire."""
    size, tail = (FRAME, FRAME_TAIL) if name == "ethernet" else (node["chunk"], 0)
    bursts = (2 if name == "copy" else 1) * _bursts(size)
    return hardware.vms + 2 + tail + bursts * _data_burst(name, burst, hardware) + _completion(burst)


def least_cycles(name: str, node: Read, hardware: SharedDevices) -> int:
    """Returns the least time of a chunk that is not a request's last one; a frame is one chunk."""
    if name == "flash":
        return node["chunk"] * 16 * flash_half(node, hardware)
    return node["chunk"] if name == "copy" else FRAME
