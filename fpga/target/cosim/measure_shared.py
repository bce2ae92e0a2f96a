# SPDX-License-Identifier: Apache-2.0
"""Figures of the shared devices behind their bus port, with 16 VMs: experiments of VCDC."""

import random

from figures import measured
from shared_devices import FLASH, RAM, READ, RECEIVE, SEND, Client, Devices

VMS = 16
CLOCK_ETHERNET = 125  # MHz: a byte a cycle
POLICIES = {"rr": 0, "prio": 1}
LOOPS = (1, 4, 8, 16)  # VMs
FRAME = 1024
ROUNDS = 8
MIXED_ROUNDS = 150
BYTE = 32  # cycles of a byte on the flash's wire, SCK 25 MHz
COMMAND = 4  # bytes that precede those of a chunk
CHUNK = 128
LOADED_VMS = 9  # of the published measurement; the last one has the highest priority
LENGTHS = {1: 60, 4: 60, 64: 20, 256: 12}  # bytes, and how many reads are measured under load
DATA, RECEIVED = 0x1000, 0x8000


def made(*devices: int) -> Devices:
    found = Devices(vms=VMS)
    for vm in found.vms:
        for device in devices:
            vm.set_ring(device)
    return found


def wire_cycles(length: int) -> int:
    """Cycles of a read on the wire."""
    return (COMMAND * -(-length // CHUNK) + length) * BYTE


def submit_read(vm: Client, length: int) -> int:
    """Returns the time before the write of SUBMIT."""
    vm.write(FLASH, "CHANNEL_ADDR", RAM)
    start = vm.devices.time
    vm.write(FLASH, "CHANNEL_SUBMIT", READ | length << 16)
    return start


def read_alone(length: int) -> int:
    """Cycles of a read, from before the write of SUBMIT to the completion in memory."""
    devices = made(FLASH)
    vm = devices.vms[5]
    start = submit_read(vm, length)
    devices.wait_for(lambda: vm.completion(FLASH) is not None, at_once=1)
    return devices.time - start


class Readers:
    """VMs that read a flash without pause, and one of the highest priority that reads after a random pause."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.devices = made(FLASH)
        self.devices.set("ARBITER", POLICIES["prio"] | 7 << 8, index=FLASH - 1)
        *self.others, self.first = self.devices.vms[:LOADED_VMS]
        for vm in (*self.others, self.first):
            self.devices.allow(vm.number, FLASH, vm.number)
        for vm in self.others:
            submit_read(vm, length)

    def _again(self) -> None:
        """Others whose read is complete submit the next one."""
        for vm in self.others:
            if vm.completion(FLASH) is not None:
                submit_read(vm, self.length)

    def _pause(self) -> None:
        end = self.devices.time + random.randrange(2 * wire_cycles(self.length))
        while self.devices.time < end:
            self._again()
            self.devices.step(1)

    def read(self) -> int:
        """Cycles of a read of the highest priority, as in read_alone(), beside the reads of the others."""
        self._pause()
        start = submit_read(self.first, self.length)
        while self.first.completion(FLASH) is None:
            self._again()
            self.devices.step(1)
        return self.devices.time - start


def measure_reads() -> None:
    for length, number in LENGTHS.items():
        alone = read_alone(length)
        readers = Readers(length)
        times = [readers.read() for _ in range(number)]
        print(f"flash, {length} bytes: {alone} cycles alone, beside 8 others {min(times)} to {max(times)}")
        measured(f"fpga.io.bus.read{length}", alone)
        measured(f"fpga.io.bus.read{length}_loaded", max(times))
        measured(f"fpga.io.bus.read{length}_spread", max(times) - min(times))
        if length == 1:
            measured("fpga.io.bus.read1_overhead", alone - wire_cycles(1))


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


class Mixed(Loop):
    """The loop of VM 0 beside others that always have frames of 14 and of 1,024 bytes to send, to nobody."""

    SHORT_AT = 0x2000
    DEPTH = 4  # requests that a VM may have

    def __init__(self, active: int) -> None:
        super().__init__(POLICIES["prio"], active)
        self.first, *self.others = self.senders
        for vm in self.others:
            head = b"\x02" * 6 + vm.mac + b"\x88\xb5"
            vm.store(DATA, head.ljust(FRAME, b"x"))
            vm.store(self.SHORT_AT, head)
        self.free = dict.fromkeys((vm.number for vm in self.others), self.DEPTH)

    def _flood(self) -> None:
        for vm in self.others:
            while vm.completion(SEND) is not None:
                self.free[vm.number] += 1
            for _ in range(self.free[vm.number]):
                long = random.random() < 0.1
                vm.submit(SEND, 0, RAM + (DATA if long else self.SHORT_AT), FRAME if long else 14)
            self.free[vm.number] = 0

    def time(self) -> int:
        """Cycles of a frame of VM 0 after a random pause."""
        end = self.devices.time + random.randrange(3000)
        while self.devices.time < end:
            self._flood()
            self.devices.step(5)
        start = self.send(self.first)
        while self.receiver(self.first).completion(RECEIVE) is None:
            self._flood()
            self.devices.step(1)
        return self.devices.time - start


def measure_mixed() -> None:
    mixed = Mixed(VMS)
    longest = round(max(mixed.time() for _ in range(MIXED_ROUNDS)) / CLOCK_ETHERNET, 2)
    print(f"Ethernet, {FRAME} bytes beside {VMS - 1} VMs with frames of 14 and {FRAME} bytes: {longest} us")
    measured(f"fpga.io.ethernet.loop.prio.{VMS}vm.mixed", longest)


def measure_loops() -> None:
    last: dict[tuple[str, int], float] = {}
    for active in LOOPS:
        for name, policy in POLICIES.items():
            times = Loop(policy, active).run()
            print(f"Ethernet, {FRAME} bytes, {active} VMs, {name}: {min(times.values())} to {max(times.values())} us")
            last[name, active] = max(times.values())
            measured(f"fpga.io.ethernet.loop.{name}.{active}vm.first", times[0])
            measured(f"fpga.io.ethernet.loop.{name}.{active}vm.last", last[name, active])
    least, most = LOOPS[0], LOOPS[-1]
    for name in POLICIES:
        step = (last[name, most] - last[name, least]) / (most - least)
        measured(f"fpga.io.ethernet.step.{name}", round(step, 2))


def main() -> None:
    for measure in (measure_reads, measure_loops, measure_mixed):
        random.seed(1)
        measure()


if __name__ == "__main__":
    main()
