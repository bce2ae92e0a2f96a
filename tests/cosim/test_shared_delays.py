# SPDX-License-Identifier: Apache-2.0
"""
Requests of the highest priority to the RTL, beside VMs that make chunks as long as they can, flush, and load memory:
none takes longer than admission counts (devices/shared/delay.c), with the times that the image builder computes.
"""

import random
from dataclasses import dataclass

import pytest
from shared_devices import (
    COPY,
    DONE,
    ERASE,
    FLASH,
    PROGRAM,
    RAM,
    READ,
    RECEIVE,
    SEND,
    Client,
    Completion,
    Devices,
    field,
)  # fmt: skip

from tessera.image.board import read_board
from tessera.image.shared import timing
from tessera.run.runner import ROOT

HARDWARE = read_board(ROOT / "platform" / "qemu-virt" / "board.dts").shared_devices
MHZ = HARDWARE.clock_hz // 10**6
SLICE_US = 100  # the shortest
PRIORITY = 1
FRAME, FRAME_AT = 1514, 0x8000
NODES = {
    "flash": {"chunk": 128, "sck-hz": 25_000_000, "slice-us": SLICE_US},
    "copy": {"chunk": 128},
    "ethernet": {"chunk": 2048},
}
DEVICES = {"flash": FLASH, "copy": COPY, "ethernet": SEND}
ROUNDS = 60


@dataclass
class Own:
    """A request of VM 0."""

    op: int
    bytes: int
    target: int = 0


def prepared(flash: dict[str, int] = NODES["flash"]) -> Devices:
    devices, nodes = Devices(), NODES | {"flash": flash}
    for vm in devices.vms:
        for device in (FLASH, SEND, RECEIVE, COPY):
            vm.set_ring(device)
            devices.allow(vm.number, device, 15 if vm.number == 0 else vm.number)
    for name, device in DEVICES.items():
        devices.set("ARBITER", PRIORITY | (nodes[name]["chunk"].bit_length() - 1) << 8, index=device - 1)
    half, deselect = timing.flash_half(flash, HARDWARE), timing.flash_deselect(HARDWARE)
    setting = field("SHARED_FLASH_HALF", half) | field("SHARED_FLASH_DESELECT", deselect)
    devices.set("FLASH", setting | field("SHARED_FLASH_SLICE", flash["slice-us"] * MHZ))
    for vm in devices.vms:
        frame = devices.vms[1].mac + vm.mac + b"\x08\x00"
        vm.store(FRAME_AT, frame.ljust(FRAME, b"."))
    return devices


def took(vm: Client, device: int, own: Own) -> int:
    """Cycles from the store to SUBMIT to the completion in memory."""
    vm.write(device, "CHANNEL_ADDR", RAM + (FRAME_AT if device == SEND else 0x1003))
    begins = vm.devices.time
    vm.write(device, "CHANNEL_SUBMIT", own.op | own.bytes << 16 | own.target << 32)
    found: list[Completion] = []

    def look() -> bool:
        completion = vm.completion(device)
        found.extend([completion] if completion else [])
        return bool(found)

    vm.devices.wait_for(look, 1_000_000, 1)
    assert found[0].status == DONE, found
    return vm.devices.time - begins


def disturb(vm: Client, choose: random.Random) -> None:
    """What a hostile VM does next: long requests, requests that fail at once, removal of its own."""
    what = choose.random()
    if what < 0.2:
        vm.write(choose.choice((FLASH, COPY, SEND)), "CHANNEL_FLUSH", 1)
    elif what < 0.3:
        vm.submit(choose.choice((FLASH, COPY, SEND)), 9, RAM, 4)
    elif what < 0.6:
        operation, length, target = choose.choice(((ERASE, 0, 0x10000), (PROGRAM, 256, 0x10000), (READ, 4096, 0)))
        vm.submit(FLASH, operation, RAM + 1, length, target)
    elif what < 0.8:
        vm.submit(COPY, 0, RAM + 0x2001, 4096, RAM + 0x6003)
    else:
        length = choose.choice((FRAME, 14, 60))
        for _ in range(1 if length == FRAME else 4):
            vm.submit(SEND, 0, RAM + FRAME_AT, length)


def longest_alone(device: int, own: Own) -> int:
    """On the device alone, the first of them with its windows and tables just set."""
    devices = prepared()
    return max(took(devices.vms[0], device, own) for _ in range(3))


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("flash", Own(READ, 1)),
        ("flash", Own(READ, 700)),
        ("copy", Own(0, 5, RAM + 0x5000)),
        ("copy", Own(0, 3000, RAM + 0x5001)),
        ("ethernet", Own(0, 60)),
        ("ethernet", Own(0, FRAME)),
    ],
)
def test_no_request_takes_longer_than_admission_counts(name: str, own: Own) -> None:
    device, node = DEVICES[name], NODES[name]
    burst = timing.slowest_burst((*NODES, "display"), HARDWARE)
    chunk = timing.chunk_cycles(name, node, burst, HARDWARE)
    alone = longest_alone(device, own)
    waits = timing.wait_cycles(name, node, burst, HARDWARE)
    bound = alone + (alone // timing.least_cycles(name, node, HARDWARE) + 2) * waits + chunk
    devices, choose, longest = prepared(), random.Random(own.bytes), 0
    for _ in range(ROUNDS):
        for _ in range(choose.randint(1, 12)):
            disturb(choose.choice(devices.vms[1:]), choose)
            devices.step(choose.choice((0, 0, 7, 300, 4000)))
        longest = max(longest, took(devices.vms[0], device, own))
    rest = timing.FRAME_TAIL if name == "ethernet" else 0  # of the frame on the wire, when its request is complete
    print(f"{name} {own}: {alone} alone, {longest} beside others, then {rest}, bound {bound}, chunk {chunk}")
    assert longest + rest <= bound
    assert longest > alone + chunk // 10, "the others delay it"


@pytest.mark.parametrize(("chunk", "slice_us"), [(128, 100), (1024, 100), (4096, 640)])
def test_a_long_read_behind_an_operation_that_was_left_is_counted(chunk: int, slice_us: int) -> None:
    """A VM's read first ends the rest of its erase, nearly a slice, then reads a whole chunk."""
    node = {"chunk": chunk, "sck-hz": 25_000_000, "slice-us": slice_us}
    own = Own(READ, 1)
    devices = prepared(node)
    reader, writer, other = devices.vms[:3]
    alone = max(took(reader, FLASH, own) for _ in range(3))
    burst = timing.slowest_burst(("flash",), HARDWARE)
    admitted = timing.chunk_cycles("flash", node, burst, HARDWARE)
    bound = alone + 2 * timing.wait_cycles("flash", node, burst, HARDWARE) + admitted
    erase, slice_cycles = 130_000, slice_us * MHZ
    writer.submit(FLASH, ERASE, RAM, 0, 0)
    devices.step(erase - slice_cycles + 2_000)
    other.submit(FLASH, READ, RAM, 64, 0)  # the erase is suspended for it
    devices.step(5_500)
    writer.write(FLASH, "CHANNEL_FLUSH", 1)
    writer.set_ring(FLASH)
    writer.submit(FLASH, READ, RAM, 2 * chunk, 0)
    devices.wait_for(lambda: other.completion(FLASH) is not None, 100_000, 5)
    devices.step(20)
    longest = took(reader, FLASH, own)
    print(f"chunk {chunk}, slice {slice_us} us: {longest}, bound {bound}")
    assert longest <= bound
    assert longest > (4 + chunk) * 16 * timing.flash_half(node, HARDWARE) + slice_cycles // 2, "the rest is in its way"
