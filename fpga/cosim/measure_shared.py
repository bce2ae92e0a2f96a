# SPDX-License-Identifier: Apache-2.0
"""Figures of the shared devices behind their bus port, with 16 VMs: experiments of VCDC."""

import random

from figures import measured
from shared_devices import FLASH, RAM, READ, RECEIVE, SEND, Client, Devices

VMS = 16
CLOCK_ETHERNET = 125  # MHz: a byte a cycle
POLICIES = {"rr": 0, "prio": 1}
FRAME = 1024
ROUNDS = 8
WIRE_CYCLES = 160  # of a read of one byte: five bytes on the wire, SCK 25 MHz
DATA, RECEIVED = 0x1000, 0x8000


def made(*devices: int) -> Devices:
    found = Devices(vms=VMS)
    for vm in found.vms:
        for device in devices:
            vm.set_ring(device)
    return found


def read_of_a_byte() -> int:
    """Cycles of a read of one byte, from before the write of SUBMIT to the completion in memory, without those on the
    wire."""
    devices = made(FLASH)
    vm = devices.vms[5]
    vm.write(FLASH, "CHANNEL_ADDR", RAM)
    start = devices.time
    vm.write(FLASH, "CHANNEL_SUBMIT", READ | 1 << 16)
    devices.wait_for(lambda: vm.completion(FLASH) is not None, at_once=1)
    return devices.time - start - WIRE_CYCLES


class Loop:
    """VMs that send frames to each other over a wire that ends in itself: each one to the next VM. VM 0 has the highest
    priority."""

    def __init__(self, policy: int, active: int) -> None:
        self.devices = made(SEND, RECEIVE)
        self.devices.library.shared_loop(True)
        self.devices.set("ARBITER", policy | 11 << 8, index=SEND - 1)
        for number in range(VMS):
            self.devices.allow(number, SEND, VMS - 1 - number)
        self.senders = self.devices.vms[:active]
        self.longest = dict.fromkeys(range(active), 0)
        for vm in self.senders:
            vm.store(DATA, (self.receiver(vm).mac + vm.mac + b"\x88\xb5").ljust(FRAME, b"x"))

    def receiver(self, vm: Client) -> Client:
        return self.devices.vms[(vm.number + 1) % VMS]

    def send(self, vm: Client) -> int:
        self.receiver(vm).submit(RECEIVE, 1, RAM + RECEIVED, 1600)
        vm.write(SEND, "CHANNEL_ADDR", RAM + DATA)
        start = self.devices.time
        vm.write(SEND, "CHANNEL_SUBMIT", FRAME << 16)
        return start

    def round(self, last: Client) -> None:
        """All submit a frame, one of them last, and wait until all have arrived."""
        order = [vm for vm in self.senders if vm is not last]
        random.shuffle(order)
        started = {vm.number: self.send(vm) for vm in [*order, last]}

        def look() -> bool:
            for number in list(started):
                if self.receiver(self.devices.vms[number]).completion(RECEIVE) is not None:
                    self.longest[number] = max(self.longest[number], self.devices.time - started.pop(number))
            return not started

        self.devices.wait_for(look, 100_000, at_once=1)

    def run(self) -> dict[int, float]:
        """The longest time of each VM, us."""
        for _ in range(ROUNDS):
            self.round(self.senders[0])
        return {number: round(cycles / CLOCK_ETHERNET, 2) for number, cycles in self.longest.items()}


def main() -> None:
    random.seed(1)
    measured("fpga.io.bus.read1_overhead", read_of_a_byte())
    for active in (1, 4, 8, 16):
        for name, policy in POLICIES.items():
            times = Loop(policy, active).run()
            print(f"Ethernet, {FRAME} bytes, {active} VMs, {name}: {min(times.values())} to {max(times.values())} us")
            measured(f"fpga.io.ethernet.loop.{name}.{active}vm.first", times[0])
            measured(f"fpga.io.ethernet.loop.{name}.{active}vm.last", max(times.values()))


if __name__ == "__main__":
    main()
