# SPDX-License-Identifier: Apache-2.0
"""The SPI face: Linux's drivers, a model of the chip, and VMs that do what no driver does."""

import random
from dataclasses import dataclass

import pytest
from shared_devices import DONE, ERASE, FLASH, PROGRAM, RAM, SPI, VIOLATION, Client, Devices, field
from shared_devices import READ as CHANNEL_READ
from spi_chip import Chip
from spi_driver import (
    AUTO,
    CLSR,
    CSMODE,
    E_ERR,
    EMPTY,
    FAST,
    FMT,
    FULL,
    HOLD,
    IE,
    IP,
    LENGTH_8,
    P_ERR,
    PAGE,
    PP,
    RDCR,
    RDID,
    RDSR,
    READ,
    RXDATA,
    RXMARK,
    RXWM,
    S25FL128S1,
    SE,
    SECTOR,
    SFDP,
    TX_ONLY,
    TXDATA,
    TXMARK,
    TXWM,
    WEL,
    WIP,
    WRDI,
    WREN,
    Controller,
    Nor,
)  # fmt: skip

SECTORS = 4  # of each VM's window
WINDOW = SECTORS * SECTOR


@pytest.fixture
def devices():
    made = Devices()
    yield made
    assert made.library.shared_complaints() == 0, "AXI"


@pytest.fixture
def content(tmp_path):
    """Content of the windows of all VMs, and a file with it."""
    data = random.Random(7).randbytes(4 * WINDOW)
    (tmp_path / "flash").write_bytes(data)
    return data, str(tmp_path / "flash")


def linux(vm: Client, *, interrupts: bool = False) -> Nor:
    controller = Controller(vm, interrupts=interrupts)
    assert controller.probe() == 1
    nor = Nor(controller)
    nor.probe()
    return nor


def finish(nor: Nor) -> None:
    """Until the operation in the flash is over."""
    for _ in range(1000):
        if not nor.status() & WIP:
            return
        nor.controller.devices.step(1000)
    raise AssertionError("the operation does not end")


def drain(spi: Controller) -> None:
    """Empties the receive FIFO."""
    for _ in range(8):
        spi.read(RXDATA)
    assert spi.read(RXDATA) == EMPTY


def window(data: bytes, vm: int) -> bytes:
    return data[vm * WINDOW : (vm + 1) * WINDOW]


@pytest.mark.parametrize("interrupts", [False, True])
def test_linux_reads(content, interrupts):
    """From any address, across words and sectors; by polling, and by interrupts."""
    data, file = content
    nor = linux(Devices(flash=file).vms[2], interrupts=interrupts)
    own = window(data, 2)
    for address, number in ((0, 1), (3, 9), (SECTOR - 150, 300), (WINDOW - 5, 5), (6, 2)):
        assert nor.read(address, number) == own[address : address + number]
        assert nor.read(address, number, fast=True) == own[address : address + number]
    assert (nor.controller.interrupts > 100) == interrupts


def test_linux_writes(devices):
    """Erases, programs across pages, and reads back. Polls of the status see the operation in progress."""
    nor, other = linux(devices.vms[1]), linux(devices.vms[2])
    data = random.Random(1).randbytes(600)
    nor.write(SECTOR - 77, data)
    assert nor.read(SECTOR - 80, 610) == b"\xff" * 3 + data + b"\xff" * 7
    polls = nor.polls
    assert polls > 3
    nor.erase(SECTOR + 0x1234)
    assert nor.polls - polls > 10
    assert nor.read(SECTOR - 80, 610) == b"\xff" * 3 + data[:77] + b"\xff" * 530
    assert other.read(SECTOR - 80, 610) == b"\xff" * 610
    assert nor.status() == 0


def test_linux_writes_by_interrupts(devices):
    nor = linux(devices.vms[3], interrupts=True)
    nor.write(250, b"by interrupts")
    assert nor.read(249, 15) == b"\xffby interrupts\xff"


def test_outside_the_window(content):
    """Bytes behind the window are 0xFF; Linux gets an error for writing there, and goes on."""
    data, file = content
    devices = Devices(flash=file)
    nor = linux(devices.vms[1])
    assert nor.read(WINDOW - 6, 20) == window(data, 1)[-6:] + b"\xff" * 14
    assert nor.read(0xFFFFFC, 12) == b"\xff" * 4 + window(data, 1)[:8], "addresses have 24 bits"
    for action in (lambda: nor.write(WINDOW, b"bad"), lambda: nor.erase(WINDOW), lambda: nor.erase(0xFF0000)):
        with pytest.raises(OSError, match="EIO"):
            action()
        assert nor.status() == 0
    assert linux(devices.vms[2]).read(0, 300) == window(data, 2)[:300]
    nor.write(0x80, bytes(4))
    assert nor.read(0x80, 4) == bytes(4)


def test_the_error_that_the_status_shows(devices):
    nor = linux(devices.vms[0])
    for code, error in ((PP, P_ERR), (SE, E_ERR)):
        nor.op(WREN)
        nor.op(code, WINDOW, data=b"x" if code == PP else b"")
        devices.step(1000)
        assert nor.status() == error | WEL | WIP
        assert nor.op(RDID, number=6) == b"\xff" * 6, "busy"
        nor.op(CLSR)
        assert nor.status() == WEL
        nor.op(WRDI)
        assert nor.status() == 0


def test_registers(devices):
    vm = devices.vms[0]
    spi = Controller(vm)
    values = {0x00: 3, 0x14: 1, CSMODE: 0, FMT: LENGTH_8, TXDATA: 0, RXDATA: EMPTY, TXMARK: 0, RXMARK: 0, IE: 0, IP: 0}
    assert {register: spi.read(register) for register in values} == values
    for register, value in ((CSMODE, HOLD), (FMT, LENGTH_8 | TX_ONLY), (TXMARK, 5), (RXMARK, 6), (IE, 3)):
        spi.write(register, value)
        assert spi.read(register) == value
    assert spi.read(IP) == TXWM
    assert devices.interrupts == 2
    spi.write(TXMARK, 0)
    assert devices.interrupts == 0
    page = vm.page(SPI)
    assert not devices.refuses(page + 0x74, 4)
    assert devices.refuses(page + 0x78, 4)
    assert devices.refuses(page + 0x48, 8, 0)
    assert devices.refuses(page + 0x48, 1, 0)
    assert devices.refuses(page + 0x4A, 2)


def test_fifos(devices):
    """Received bytes beyond eight are lost; bytes for a chip that is not selected come back as 0xFF."""
    spi = Controller(devices.vms[0])
    spi.write(RXMARK, 7)
    for number in range(12):
        spi.write(TXDATA, RDID)
        assert spi.read(IP) == (RXWM if number >= 7 else 0)
    assert [spi.read(RXDATA) for _ in range(9)] == [0xFF] * 8 + [EMPTY]
    spi.write(CSMODE, HOLD)
    for byte in (RDID, 0, 0, 0, 0, 0, 0, 0, 0, 0):
        spi.write(TXDATA, byte)
    assert bytes(spi.read(RXDATA) for _ in range(8)) == b"\xff" + S25FL128S1 + b"\xff"
    assert spi.read(RXDATA) == EMPTY


def test_a_read_fills_the_transmit_fifo(content):
    """Bytes that are written faster than the flash delivers wait; more than eight are refused."""
    data, file = content
    devices = Devices(flash=file)
    devices.set("FLASH", 200 | 10 << 8)  # a slow wire
    spi = Controller(devices.vms[0])
    spi.write(CSMODE, HOLD)
    spi.write(FMT, LENGTH_8 | TX_ONLY)
    for byte in (READ, 0, 0, 2):
        spi.write(TXDATA, byte)
    spi.write(FMT, LENGTH_8)
    spi.write(TXMARK, 7)
    spi.write(RXMARK, 7)
    for number in range(10):
        assert spi.read(TXDATA) == (FULL if number >= 8 else 0)
        assert spi.read(IP) == (TXWM if number < 7 else 0)
        spi.write(TXDATA, number)
    spi.write(IE, RXWM)
    devices.wait_interrupt(2)
    assert bytes(spi.read(RXDATA) for _ in range(8)) == data[2:10]
    assert spi.read(RXDATA) == EMPTY
    assert devices.interrupts == 0


@dataclass
class Pair:
    """The face and the model, which get the same bytes."""

    spi: Controller
    chip: Chip
    generator: random.Random

    def exchange(self, sent: bytes) -> bytes:
        """In portions of up to eight bytes, with or without a pause after each of them."""
        received = b""
        while sent:
            size = self.generator.randint(1, 8)
            part, sent = sent[:size], sent[size:]
            self.spi.write(RXMARK, len(part) - 1)
            for byte in part:
                self.spi.write(TXDATA, byte)
                if self.generator.random() < 0.1:
                    self.spi.devices.step(self.generator.randrange(400))
            self.spi.devices.wait_for(lambda: bool(self.spi.read(IP) & RXWM), at_once=8)
            received += bytes(self.spi.read(RXDATA) for _ in part)
        return received

    def command(self, sent: bytes) -> None:
        self.spi.write(CSMODE, HOLD)
        expected = bytes(self.chip.exchange(byte) for byte in sent)
        assert self.exchange(sent) == expected, sent[:8].hex()
        self.spi.write(CSMODE, AUTO)
        if self.chip.deselect():
            self._wait()

    def _wait(self) -> None:
        """Until the operation is over, with an attempt to do something before."""
        if not self.chip.errors:
            self.spi.write(CSMODE, HOLD)
            assert self.exchange(bytes([RDID, 0, 0])) == b"\xff" * 3
            self.spi.write(CSMODE, AUTO)
        for _ in range(1000):
            self.spi.write(CSMODE, HOLD)
            status = self.exchange(bytes([RDSR, 0]))[1]
            self.spi.write(CSMODE, AUTO)
            if not status & WIP or status & (E_ERR | P_ERR):
                return
            self.spi.devices.step(1000)
        raise AssertionError("the operation does not end")


def some_address(generator: random.Random) -> bytes:
    places = (generator.randrange(WINDOW), generator.randrange(2 * PAGE), WINDOW - 8, WINDOW, 0xFFFFF0)
    return (generator.choice(places) + generator.randrange(16)).to_bytes(4, "big")[1:]


def some_command(generator: random.Random) -> bytes:
    code = generator.choice((READ, READ, FAST, PP, PP, PP, SE, RDID, RDSR, RDCR, SFDP, generator.randrange(256)))
    if generator.random() < 0.1:
        return bytes([code]) + generator.randbytes(generator.randrange(12))
    if code in (READ, FAST):
        return bytes([code]) + some_address(generator) + bytes(generator.choice((0, 1, 5, 40)))
    if code == PP:
        return bytes([code]) + some_address(generator) + generator.randbytes(generator.choice((0, 1, 9, 100, 256, 300)))
    if code == SE:
        return bytes([code]) + some_address(generator)
    return bytes([code]) + bytes(generator.randrange(9))


@pytest.mark.parametrize("seed", range(4))
def test_random_commands(seed, content):
    """Two VMs with the same face and model; each sees its own chip."""
    data, file = content
    generator = random.Random(seed)
    devices = Devices(flash=file)
    devices.set("ARBITER", generator.randrange(3) | generator.choice((5, 6, 7)) << 8)
    pairs = [Pair(Controller(devices.vms[vm]), Chip(window(data, vm)), generator) for vm in (1, 2)]
    for _ in range(60):
        pair = generator.choice(pairs)
        if pair.chip.errors and generator.random() < 0.5:
            pair.command(bytes([CLSR]))
        elif generator.random() < 0.4:
            pair.command(bytes([generator.choice((WREN, WREN, WREN, WRDI))]))
        pair.command(some_command(generator))
    for pair in pairs:
        pair.command(bytes([CLSR]))
        pair.command(bytes([READ, 0, 0, 0]) + bytes(2 * PAGE))
    assert bytes(devices.vms[1].memory) == bytes(len(devices.vms[1].memory)), "no access to memory"
    assert devices.library.shared_complaints() == 0


def test_a_page_wraps_around(content):
    """More than a page of data: the last 256 bytes count."""
    data, file = content
    pair = Pair(Controller(Devices(flash=file).vms[0]), Chip(window(data, 0)), random.Random(3))
    for address, number in ((0xF0, 40), (0x101, 256), (0x280, 300), (0x300, 256), (0x4FF, 2), (0x510, 700)):
        pair.command(bytes([WREN]))
        pair.command(bytes([PP]) + address.to_bytes(3, "big") + pair.generator.randbytes(number))
        pair.command(bytes([RDSR, 0]))
    pair.command(bytes([READ, 0, 0, 0]) + bytes(6 * PAGE))


@pytest.mark.parametrize("count", [1, 2, 4, 5, 8, 9])
@pytest.mark.parametrize("pause", [0, 60, 200, 600])
def test_a_read_that_is_given_up(content, count, pause):
    """The chip is deselected while it reads: what still arrives is not that of the next command."""
    data, file = content
    nor = linux(Devices(flash=file).vms[0])
    spi = nor.controller
    spi.write(CSMODE, HOLD)
    spi.write(FMT, LENGTH_8 | TX_ONLY)
    for byte in (READ, 0, 1, 0):
        spi.write(TXDATA, byte)
    spi.write(FMT, LENGTH_8)
    for _ in range(count):
        spi.write(TXDATA, 0)
    spi.devices.step(pause)
    spi.write(CSMODE, AUTO)
    drain(spi)
    assert nor.read(0x2002, 11) == data[0x2002:0x200D]
    nor.op(WREN)
    nor.op(PP, 0x10, data=bytes(3))
    assert nor.status() == WIP | WEL


def test_two_vms_at_once(content):
    """Their bytes come alternately. One stops in the middle of a command; the other one is served."""
    data, file = content
    devices = Devices(flash=file)
    one, two = (Controller(vm) for vm in devices.vms[:2])
    for spi in (one, two):
        spi.write(CSMODE, HOLD)
    for sent in zip(bytes([READ, 0, 0x12, 0x30]) + bytes(4), bytes([FAST, 1, 0x34, 0x50]) + bytes(4), strict=True):
        for spi, byte in zip((one, two), sent, strict=True):
            spi.write(TXDATA, byte)
    devices.step(5000)
    assert bytes(one.read(RXDATA) & 255 for _ in range(8)) == b"\xff" * 4 + data[0x1230:0x1234]
    assert bytes(two.read(RXDATA) & 255 for _ in range(7)) == b"\xff" * 5 + window(data, 1)[0x13450:0x13452]
    nor = linux(devices.vms[2])
    nor.write(0, bytes(32))
    assert nor.read(0, 32) == bytes(32)
    one.write(TXDATA, 0)
    devices.step(5000)
    assert one.read(RXDATA) == data[0x1234]


@pytest.mark.parametrize("size", range(4))
def test_small_chunks(content, size):
    """A word for the face is one chunk, whatever their size: nothing of it goes to memory."""
    data, file = content
    devices = Devices(flash=file)
    devices.set("ARBITER", 1 | size << 8)
    nor = linux(devices.vms[2])
    assert nor.read(1, 10) == window(data, 2)[1:11]
    nor.write(0x103, bytes(9))
    assert nor.read(0x102, 11) == window(data, 2)[0x102:0x103] + bytes(9) + window(data, 2)[0x10C:0x10D]
    assert devices.get("IRQ_STATUS") == 0
    assert bytes(devices.vms[2].memory) == bytes(len(devices.vms[2].memory))


def test_pages_of_two_vms(devices):
    """They clock in their pages alternately, and program them at the same time."""
    pair = [Controller(vm) for vm in devices.vms[1:3]]
    for spi in pair:
        spi.probe()
        Nor(spi).op(WREN)
        spi.write(CSMODE, HOLD)
    for sent in zip(bytes([PP, 0, 0, 0]) + b"first", bytes([PP, 0, 0, 0]) + b"other", strict=True):
        for spi, byte in zip(pair, sent, strict=True):
            spi.write(TXDATA, byte)
    for spi in pair:
        spi.write(CSMODE, AUTO)
        drain(spi)
    for spi, text in zip(pair, (b"first", b"other"), strict=True):
        finish(Nor(spi))
        assert Nor(spi).read(0, 6) == text + b"\xff"


def channel_latency(devices: Devices, vm: Client) -> int:
    start = devices.time
    vm.submit(FLASH, CHANNEL_READ, 0, 4, 64)
    devices.wait_interrupt(2 << vm.number)
    assert vm.completion(FLASH).status == DONE
    taken = devices.time - start
    vm.write(FLASH, "CHANNEL_INT", 3)
    return taken


CHUNK = 8 * 32  # cycles on the wire of a face's read, and of a channel's of 4 bytes


def test_a_flood_delays_by_one_chunk_only(content):
    """Three VMs read through their faces without pause, a fourth one through its channel, with the highest priority."""
    _, file = content
    devices = Devices(flash=file)
    vm = devices.vms[3]
    devices.set("ARBITER", 1 | 7 << 8)
    devices.allow(3, FLASH, 15)
    vm.set_ring(FLASH, interrupt=True)
    alone = channel_latency(devices, vm)
    hogs = [Controller(hog) for hog in devices.vms[:3]]
    for spi in hogs:
        spi.write(CSMODE, HOLD)
        for byte in (READ, 0, 0, 0):
            spi.write(TXDATA, byte)
    longest = 0
    for number in range(60):
        for spi in hogs:
            for _ in range(number % 9):
                spi.write(TXDATA, 0)
        longest = max(longest, channel_latency(devices, vm))
        for spi in hogs:
            spi.read(RXDATA)
    assert alone + CHUNK // 4 < longest < alone + CHUNK + 40
    spi = hogs[0]
    devices.step(10_000)
    assert spi.read(IP) & RXWM


def test_the_priority_of_a_face(content):
    """It is given with the right. A read by the highest one waits for one chunk, whoever else reads."""
    data, file = content
    devices = Devices(flash=file)
    devices.set("ARBITER", 1 | 7 << 8)
    devices.allow(2, SPI, 15)
    hogs, spi = [Controller(vm) for vm in devices.vms[:2]], Controller(devices.vms[2])
    for one in (*hogs, spi):
        one.write(CSMODE, HOLD)
        for byte in (READ, 0, 0, 0):
            one.write(TXDATA, byte)
    for _ in range(4):
        spi.read(RXDATA)
    spi.write(RXMARK, 0)
    times = []
    for number in range(40):
        for hog in hogs:
            for _ in range(8):
                hog.write(TXDATA, 0)
        devices.step(7 * number)
        start = devices.time
        spi.write(TXDATA, 0)
        spi.write(IE, RXWM)
        devices.wait_interrupt(8)
        times.append(devices.time - start)
        assert spi.read(RXDATA) == window(data, 2)[number]
        spi.write(IE, 0)
    assert max(times) < 2 * CHUNK + 60


def test_an_erase_through_the_face_is_suspended(content):
    data, file = content
    devices = Devices(flash=file)
    devices.set("FLASH", 2 | 10 << 8 | 1000 << 32)
    nor, vm = linux(devices.vms[0]), devices.vms[1]
    vm.set_ring(FLASH, interrupt=True)
    nor.op(WREN)
    nor.op(SE, 0)
    devices.step(2000)
    longest = max(channel_latency(devices, vm) for _ in range(20))
    assert nor.status() & WIP
    assert longest < 1000 + 4000 + 20 * 32
    finish(nor)
    assert nor.read(SECTOR - 4, 8) == b"\xff" * 4 + data[SECTOR : SECTOR + 4]


@pytest.mark.parametrize("where", ["head", "read", "data", "program", "erase", "error"])
def test_a_flush_in_the_middle(content, where):
    """The manager removes the VM's requests. Its face is as after a reset, other VMs' are not, and it works again."""
    data, file = content
    devices = Devices(flash=file)
    nor, other = linux(devices.vms[1]), Controller(devices.vms[2])
    spi = nor.controller
    other.write(CSMODE, HOLD)
    for byte in (RDID, 0, 0):
        other.write(TXDATA, byte)
    target = (WINDOW if where == "error" else SECTOR).to_bytes(3, "big")
    code = {"head": READ, "read": READ, "erase": SE}.get(where, PP)
    nor.op(WREN)
    spi.write(CSMODE, HOLD)
    spi.write(IE, RXWM | TXWM)
    address = target[: 1 if where == "head" else 3]
    for byte in bytes([code]) + address + bytes(3 if code == PP or where == "read" else 0):
        spi.write(TXDATA, byte)
    if where in ("program", "erase", "error"):
        spi.write(CSMODE, AUTO)
        devices.step(700)
    devices.set("FLUSH", field("SHARED_FLUSH_VM", 1))
    assert devices.interrupts & 4 == 0
    assert (spi.read(CSMODE), spi.read(RXDATA), spi.read(FMT), spi.read(IE)) == (0, EMPTY, LENGTH_8, 0)
    devices.step(300_000)
    assert spi.read(RXDATA) == EMPTY
    assert linux(devices.vms[1]).status() == 0
    assert nor.read(3, 20) == window(data, 1)[3:23]
    other.write(TXDATA, 0)
    assert bytes(other.read(RXDATA) for _ in range(4)) == b"\xff" + S25FL128S1[:3]


def test_the_face_and_the_channel_of_one_vm(content):
    """Its FIFO is full of the channel's requests: the face waits, and both are served."""
    data, file = content
    devices = Devices(flash=file)
    vm = devices.vms[0]
    vm.set_ring(FLASH)
    nor = linux(vm)
    nor.op(WREN)
    for number in range(4):
        vm.submit(FLASH, CHANNEL_READ, RAM + 0x1000 + 256 * number, 256, 256 * number, number)
    assert nor.read(0x5001, 10) == data[0x5001:0x500B]
    for number in range(4):
        done = vm.wait(FLASH)
        assert (done.status, done.tag, done.bytes) == (DONE, number, 256)
    assert vm.load(0x1000, 1024) == data[:1024]
    assert vm.do(FLASH, PROGRAM, 0, 4, 0x8000).status == VIOLATION
    nor.op(PP, 0, data=bytes(8))
    assert vm.do(FLASH, CHANNEL_READ, RAM, 200, 300).status == DONE
    finish(nor)
    assert vm.do(FLASH, CHANNEL_READ, 0, 4, 6).data == int.from_bytes(bytes(2) + data[8:10], "little")
    assert vm.completion(FLASH) is None, "the face's requests have no completions"


def test_a_flush_of_the_own_channel(content):
    """It removes the face's request, too, and resets the face: neither waits for ever."""
    data, file = content
    devices = Devices(flash=file)
    vm = devices.vms[0]
    nor = linux(vm)
    nor.op(WREN)
    nor.op(SE, SECTOR)
    devices.step(3000)
    assert nor.status() & WIP
    vm.write(FLASH, "CHANNEL_FLUSH", 1)
    nor = linux(vm)
    assert nor.status() == 0
    assert nor.read(0, 4) == data[:4]


def test_no_right_no_effect():
    devices = Devices(rights=False)
    spi = Controller(devices.vms[0])
    spi.write(IE, TXWM)
    spi.write(TXMARK, 7)
    spi.write(CSMODE, HOLD)
    for byte in (READ, 0, 0, 0, 0):
        spi.write(TXDATA, byte)
    devices.step(2000)
    assert [spi.read(register) for register in (CSMODE, TXMARK, IE, IP, RXDATA, FMT)] == [0] * 6
    assert devices.interrupts == 0


def test_only_the_face():
    """A VM that may use device 7 only: its channel page submits nothing, its face works."""
    devices = Devices(rights=False)
    vm = devices.vms[0]
    devices.set("FLASH_WINDOW", field("SHARED_FLASH_WINDOW_VM", 0) | 1 << 16)
    devices.allow(0, SPI)
    nor = linux(vm)
    nor.write(5, b"face")
    assert nor.read(4, 6) == b"\xffface\xff"
    for op in (CHANNEL_READ, PROGRAM, ERASE):
        vm.submit(FLASH, op, RAM, 4)
    assert vm.read(FLASH, "CHANNEL_STATUS") & 31 == 0
    assert vm.read(FLASH, "CHANNEL_INT") >> 2 & 1, "refused"


def hostile_access(generator: random.Random, spi: Controller) -> None:
    if generator.random() < 0.7:
        spi.write(TXDATA, generator.choice((WREN, PP, SE, READ, 0, generator.randrange(256))))
        return
    size = generator.choice((1, 4, 4, 8))
    register = spi.vm.page(SPI) + 4 * generator.randrange(32)
    spi.devices.library.shared_write(register, size, generator.getrandbits(8 * size))


@pytest.mark.parametrize("seed", range(3))
def test_hostile_faces(seed, content):
    """Two VMs write anything into their faces and are flushed. A third one's reads and writes are right."""
    data, file = content
    generator = random.Random(seed)
    devices = Devices(flash=file)
    hostile = [Controller(vm) for vm in devices.vms[:2]]
    nor, own = linux(devices.vms[2]), bytearray(window(data, 2))
    for number in range(30):
        for _ in range(40):
            hostile_access(generator, generator.choice(hostile))
            devices.step(generator.randrange(40))
        if generator.random() < 0.2:
            devices.set("FLUSH", field("SHARED_FLUSH_VM", generator.randrange(2)))
        address = generator.randrange(WINDOW - 16)
        if number % 10 == 0:
            nor.write(address, bytes(16))
            own[address : address + 16] = bytes(16)
        address -= address % 32
        assert nor.read(address, 32) == own[address : address + 32]
    for vm in devices.vms:
        assert bytes(vm.memory) == bytes(len(vm.memory)), "no access to memory"
    assert devices.library.shared_complaints() == 0
