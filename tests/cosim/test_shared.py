# SPDX-License-Identifier: Apache-2.0
"""The shared devices behind their bus port: requests of VMs, rights, windows, hostile VMs, resets in the middle."""

import random

import pytest
from shared_devices import (
    BAD,
    COPY,
    DISPLAY,
    DONE,
    ERASE,
    FLASH,
    FORBIDDEN,
    GPIO,
    NAMES,
    PROGRAM,
    RAM,
    RAM_SIZE,
    READ,
    RECEIVE,
    RING,
    SEND,
    SPI,
    UART,
    VIOLATION,
    VMS,
    Client,
    Devices,
    field,
)  # fmt: skip

from tessera.image.board import read_board
from tessera.image.shared import display
from tessera.run.runner import ROOT

SECTOR = 65536
LATENCY = 19  # cycles: a burst takes 40, those of the board at most 24


@pytest.fixture
def devices():
    made = Devices()
    yield made
    assert made.library.shared_complaints() == 0, "AXI"


def ready(vm: Client, *channels: int) -> Client:
    for device in channels or (FLASH, SEND, RECEIVE):
        vm.set_ring(device)
    return vm


def test_identity(devices):
    assert devices.get("ID") & 0xFFFFFFFF == 0x5453494F
    params = devices.get("PARAMS")
    assert (params & 255, params >> 8 & 255, params >> 16 & 255, params >> 24 & 255) == (VMS, 4, 4, 32)


def test_flash_keeps_what_is_written(devices):
    vm = ready(devices.vms[1])
    data = random.Random(1).randbytes(600)
    at = vm.store(0x101, data)
    assert vm.do(FLASH, ERASE, 0, 0, 0).status == DONE
    for start in range(0, 600, 200):
        assert vm.do(FLASH, PROGRAM, at + start, 200, 77 + start).status == DONE
    done = vm.do(FLASH, READ, RAM + 0x1003, 600, 77)
    assert (done.status, done.bytes) == (DONE, 600)
    assert vm.load(0x1003, 600) == data
    assert (vm.load(0x1002, 1), vm.load(0x1003 + 600, 1)) == (b"\0", b"\0"), "bytes around it"


def test_a_file_keeps_the_flash(tmp_path):
    file = str(tmp_path / "flash")
    vm = ready(Devices(flash=file).vms[1], FLASH)
    assert vm.do(FLASH, PROGRAM, vm.store(0, b"kept"), 4, 5).status == DONE
    vm = ready(Devices(flash=file).vms[1], FLASH)
    assert vm.do(FLASH, READ, 0, 4, 5).data == int.from_bytes(b"kept", "little")
    assert (tmp_path / "flash").read_bytes()[4 * SECTOR + 4 :][:6] == b"\xffkept\xff"


def test_a_short_read_comes_with_its_completion(devices):
    vm = ready(devices.vms[2])
    at = vm.store(0, b"abcd")
    assert vm.do(FLASH, PROGRAM, at, 4, 256).status == DONE
    assert vm.do(FLASH, READ, 0, 4, 256).data == int.from_bytes(b"abcd", "little")


def test_windows_of_the_flash(devices):
    """Each VM sees its own sectors, and an access behind its window is refused."""
    first, second = (ready(vm) for vm in devices.vms[:2])
    assert first.do(FLASH, PROGRAM, first.store(0, b"1111"), 4, 0).status == DONE
    assert second.do(FLASH, PROGRAM, second.store(0, b"2222"), 4, 0).status == DONE
    assert (first.do(FLASH, READ, 0, 4, 0).data, second.do(FLASH, READ, 0, 4, 0).data) == (0x31313131, 0x32323232)
    for op, length in ((READ, 4), (PROGRAM, 4), (ERASE, 0)):
        assert first.do(FLASH, op, RAM, length, 4 * SECTOR).status == FORBIDDEN
    assert first.do(FLASH, READ, RAM, 4, 4 * SECTOR - 3).status == FORBIDDEN
    assert first.do(FLASH, READ, RAM, 4, 2**32 - 2).status == FORBIDDEN
    assert second.do(FLASH, READ, 0, 4, 0).data == 0x32323232
    assert first.read(FLASH, "CHANNEL_INFO") >> 32 == 4 * SECTOR


@pytest.mark.parametrize("op", [3, 7, 255])
def test_unknown_operations(devices, op):
    assert ready(devices.vms[0]).do(FLASH, op, RAM, 4).status == BAD


def test_memory_outside_the_windows(devices):
    """The request fails, the manager is told, and the VM's next request works."""
    vm = ready(devices.vms[3])
    devices.set("IRQ_ENABLE", 3)
    for address in (0, RAM - 8, RAM + RAM_SIZE, RAM + RAM_SIZE - 8):
        assert vm.do(FLASH, READ, address, 16).status == VIOLATION, hex(address)
        assert devices.interrupts & 1
        assert devices.get("FAULT") & 0x3F == 3 | 1 << 4
        devices.set("IRQ_STATUS", 3)
        assert not devices.interrupts & 1
    assert devices.get("FAULT_ADDR") == RAM + RAM_SIZE
    assert vm.do(FLASH, READ, RAM, 16).status == DONE


def test_a_full_fifo_refuses(devices):
    """A flood fills the FIFO of the VM that floods; the others' requests are served."""
    hog, other = (ready(vm) for vm in devices.vms[:2])
    for number in range(20):
        hog.submit(FLASH, READ, RAM, 256, 0, number)
    assert hog.read(FLASH, "CHANNEL_STATUS") & 31 == 4
    assert hog.read(FLASH, "CHANNEL_INT") >> 2 & 1, "refused"
    assert other.do(FLASH, READ, 0, 1).status == DONE
    tags = [hog.wait(FLASH).tag for _ in range(4)]
    assert tags == [0, 1, 2, 3]
    devices.step(100_000)
    assert hog.completion(FLASH) is None
    hog.write(FLASH, "CHANNEL_INT", 1 << 2)
    assert not hog.read(FLASH, "CHANNEL_INT") >> 2 & 1


def test_no_right_no_request():
    devices = Devices(rights=False)
    vm = ready(devices.vms[0], FLASH)
    vm.submit(FLASH, READ, RAM, 4)
    devices.step(10_000)
    assert vm.completion(FLASH) is None
    assert vm.read(FLASH, "CHANNEL_INT") >> 2 & 1, "refused"


def test_no_ring_no_completion(devices):
    """The completion is lost, and the manager is told whose it was."""
    vm = devices.vms[0]
    before = bytes(vm.memory)
    vm.submit(FLASH, READ, RAM, 4)
    devices.step(10_000)
    assert bytes(vm.memory) == before
    assert devices.get("IRQ_STATUS") >> 1 & 1, "lost"
    assert devices.get("LOST") == 0 | FLASH << 4


@pytest.mark.parametrize(("bit", "register"), [(0, "FAULT"), (1, "LOST")])
def test_an_event_in_the_cycle_of_a_clear(devices, bit, register):
    """VM 3 has an event, then VM 5. Wherever the manager's clear meets that of VM 5: if the event is still there, the
    registers tell of VM 5."""

    def cause(vm: Client) -> None:
        vm.submit(COPY, 0, RAM + RAM_SIZE if register == "FAULT" else RAM, 8 * vm.number, RAM + 64)

    first, second = devices.vms[3], devices.vms[5]
    if register == "FAULT":
        for vm in (first, second):
            ready(vm, COPY)
    remains = []
    for delay in range(100):
        cause(first)
        devices.step(1_000)
        assert devices.get(register) & 15 == 3
        cause(second)
        devices.step(delay)
        devices.set("IRQ_STATUS", 1 << bit)
        devices.step(1_000)
        remains.append(devices.get("IRQ_STATUS") >> bit & 1)
        assert devices.get(register) & 15 == (5 if remains[-1] else 3), delay
        devices.set("IRQ_STATUS", 1 << bit)
    assert remains == sorted(remains, reverse=True)
    assert 0 < sum(remains) < len(remains)


def test_interrupt(devices):
    vm = devices.vms[2]
    vm.set_ring(FLASH, interrupt=True)
    vm.submit(FLASH, READ, RAM, 4)
    devices.wait_interrupt(1 << 3)
    assert vm.completion(FLASH), "the interrupt was before the completion"
    vm.write(FLASH, "CHANNEL_INT", 1 | 1 << 1)
    assert devices.interrupts == 0


def mask_interrupt(devices: Devices, vm: int, masked: bool) -> None:
    devices.set("VM_IRQ_MASK", field("SHARED_VM_IRQ_MASK_VM", vm) | field("SHARED_VM_IRQ_MASK_MASKED", masked))


def test_masked_interrupt(devices):
    """The manager hides the interrupts of a VM, of any device, and nothing else: registers stay as they are, VM_IRQ
    tells of the interrupt, and it comes when the mask is removed."""
    one, other = (ready(vm, FLASH, COPY) for vm in devices.vms[1:3])
    mask_interrupt(devices, 1, True)
    for vm in (one, other):
        for device in (FLASH, COPY):
            vm.set_ring(device, interrupt=True)
            assert vm.do(device, READ, RAM, 4, RAM + 64 if device == COPY else 0).status == DONE
            assert vm.read(device, "CHANNEL_INT") == 1 | 1 << 1
    devices.step(10)
    assert (devices.interrupts, devices.get("VM_IRQ")) == (1 << 3, 0b110)
    for device in (FLASH, COPY):
        mask_interrupt(devices, 1, False)
        assert devices.interrupts == 1 << 2 | 1 << 3
        mask_interrupt(devices, 1, True)
        assert devices.interrupts == 1 << 3
        one.write(device, "CHANNEL_INT", 1 | 1 << 1)
    assert (devices.interrupts, devices.get("VM_IRQ")) == (1 << 3, 0b100)
    mask_interrupt(devices, 1, False)
    assert devices.interrupts == 1 << 3


def test_flush_removes_the_mask_of_an_interrupt(devices):
    """That of the VM that is flushed only."""
    for number in (1, 2):
        mask_interrupt(devices, number, True)
    devices.set("FLUSH", 1)
    for vm in devices.vms[1:3]:
        vm.set_ring(FLASH, interrupt=True)
        assert vm.do(FLASH, READ, RAM, 4).status == DONE
    devices.step(10)
    assert (devices.interrupts, devices.get("VM_IRQ")) == (1 << 2, 0b110)


def test_registers_that_do_not_exist(devices):
    page = devices.vms[0].page
    assert devices.refuses(page(FLASH) + NAMES["CHANNEL_SPAN"])
    assert devices.refuses(page(FLASH) + NAMES["CHANNEL_SUBMIT"], 4, 0), "half a request"
    assert devices.refuses(page(15))
    assert devices.refuses(NAMES["SHARED"] + NAMES["SHARED_IRQ_ENABLE"], 4, 3), "half a register"
    assert devices.refuses(NAMES["SHARED_PAGES"] + 16 * VMS * NAMES["SHARED_PAGE_STRIDE"])
    assert devices.refuses(NAMES["SHARED"] + NAMES["SHARED_SPAN"])
    assert devices.refuses(NAMES["SHARED"] + 0x2000)


def test_flush_in_the_middle(devices):
    """The manager removes a VM's requests while one is executed: no access and no completion follow a clear BUSY."""
    vm, other = (ready(one) for one in devices.vms[:2])
    for number in range(4):
        vm.submit(FLASH, READ, RAM, 2000, 0, number)
    other.submit(FLASH, READ, RAM, 100)
    devices.step(3000)
    devices.set("FLUSH", 0)
    devices.wait_for(lambda: not devices.get("BUSY") & 1)
    devices.close(vm)
    before = bytes(vm.memory)
    assert other.wait(FLASH).status == DONE
    devices.step(300_000)
    assert bytes(vm.memory) == before
    assert vm.read(FLASH, "CHANNEL_STATUS") & 31 == 0
    assert devices.get("IRQ_STATUS") == 0
    devices.open(vm)
    assert ready(vm).do(FLASH, READ, RAM, 100).status == DONE


def test_own_flush(devices):
    vm = ready(devices.vms[0])
    for number in range(3):
        vm.submit(FLASH, READ, RAM, 2000, 0, number)
    devices.step(1000)
    vm.write(FLASH, "CHANNEL_FLUSH", 1)
    devices.step(200_000)
    assert vm.read(FLASH, "CHANNEL_STATUS") & 31 == 0
    assert vm.completion(FLASH) is None
    assert vm.do(FLASH, READ, RAM, 4).status == DONE


def frame(source: Client, target: bytes, payload: bytes) -> bytes:
    return target + source.mac + b"\x88\xb5" + payload


def test_a_frame_between_vms(devices):
    first, second, third = (ready(vm) for vm in devices.vms[:3])
    for vm in (second, third):
        vm.submit(RECEIVE, 1, RAM + 0x100, 2000)
    text = frame(first, second.mac, b"hello, VM 1".ljust(100))
    assert first.do(SEND, 0, first.store(0x11, text), len(text)).status == DONE
    done = second.wait(RECEIVE)
    assert (done.status, done.bytes) == (DONE, len(text))
    assert second.load(0x100, len(text)) == text
    devices.step(20_000)
    assert third.completion(RECEIVE) is None
    assert third.load(0x100, len(text)) == bytes(len(text))


def test_broadcast(devices):
    clients = [ready(vm) for vm in devices.vms]
    for vm in clients[1:]:
        vm.submit(RECEIVE, 1, RAM, 1600)
    text = frame(clients[0], b"\xff" * 6, b"all".ljust(300))
    assert clients[0].do(SEND, 0, clients[0].store(0, text), len(text)).status == DONE
    for vm in clients[1:]:
        assert vm.wait(RECEIVE).status == DONE
        assert vm.load(0, len(text)) == text


def test_a_forged_source(devices):
    first, second = (ready(vm) for vm in devices.vms[:2])
    text = frame(second, first.mac, bytes(80))
    assert first.do(SEND, 0, first.store(0, text), len(text)).status == FORBIDDEN
    devices.step(5000)
    assert devices.library.shared_sent() == 0
    assert devices.lost_frames(0, 0) == 1


def test_ping_of_the_host(devices, tmp_path):
    """The host at the other end answers ARP."""
    vm = ready(devices.vms[0])
    vm.submit(RECEIVE, 1, RAM + 0x1000, 1600)
    arp = bytes.fromhex("0001080006040001") + vm.mac + bytes([192, 168, 76, 10]) + bytes(6) + bytes([192, 168, 76, 1])
    text = b"\xff" * 6 + vm.mac + b"\x08\x06" + arp
    assert vm.do(SEND, 0, vm.store(0, text), len(text)).status == DONE
    assert vm.wait(RECEIVE).status == DONE
    assert vm.load(0x1000 + 20, 2) == b"\0\2"
    assert vm.load(0x1000 + 28, 4) == bytes([192, 168, 76, 1])


def test_cycles_are_skipped_while_a_vm_waits_for_a_frame(devices):
    """Its request alone changes nothing, and the frame is not lost."""
    first, second = (ready(vm) for vm in devices.vms[:2])
    second.submit(RECEIVE, 1, RAM, 1600)
    before = devices.simulated
    devices.step(1_000_000)
    assert devices.simulated - before < 1000
    text = frame(first, second.mac, b"late".ljust(100))
    assert first.do(SEND, 0, first.store(0, text), len(text)).status == DONE
    assert second.wait(RECEIVE).status == DONE
    assert second.load(0, len(text)) == text


def test_damaged_frames(devices):
    vm = ready(devices.vms[0])
    vm.submit(RECEIVE, 1, RAM, 1600)
    text = vm.mac + bytes(100)
    devices.receive(text, damage=True)
    devices.step(5000)
    assert vm.completion(RECEIVE) is None
    assert devices.lost_frames(7, 4) == 1, "FCS"
    devices.receive(text)
    assert vm.wait(RECEIVE).bytes == len(text)


def until(time: int) -> int:
    return 2 << 59 | time


def set_pins(mask: int, value: int, delay: int, bank: int = 0) -> int:
    return 3 << 59 | bank << 56 | mask << 40 | value << 24 | delay


def test_pins_on_the_exact_cycle(devices, tmp_path):
    file = tmp_path / "pins.vcd"
    devices = Devices(pins=str(file))
    vm = devices.vms[1]  # pins 8..15
    start = devices.time + 2000
    vm.write(GPIO, "GPIO_COMMAND", 5 << 59 | 1 << 63 | 0x0100 << 40 | 0x0100 << 24 | 2)  # in 2 cycles: drives pin 8
    vm.write(GPIO, "GPIO_COMMAND", until(start))
    for number in range(4):
        vm.write(GPIO, "GPIO_COMMAND", set_pins(0x0100, 0x0100 if number % 2 == 0 else 0, 250 if number else 0))
    vm.write(GPIO, "GPIO_CONTROL", 1)
    devices.step(10_000)
    changes = [int(line[1:]) for line in file.read_text().splitlines() if line.startswith("#")][-4:]
    assert changes == [10 * (start + 250 * number) for number in range(4)]
    assert vm.read(GPIO, "GPIO_STATUS") >> 8 & 0xFFFFFF == 0, "late, forbidden, dropped"


def test_a_foreign_pin(devices):
    vm = devices.vms[1]
    vm.write(GPIO, "GPIO_COMMAND", 5 << 59 | 1 << 63 | 0x0001 << 40 | 0x0001 << 24)
    vm.write(GPIO, "GPIO_CONTROL", 1)
    devices.step(100)
    assert vm.read(GPIO, "GPIO_STATUS") >> 16 & 255 == 1
    result = vm.read(GPIO, "GPIO_RESULT")
    assert result >> 31 & 1 and result >> 17 & 1
    vm.write(GPIO, "GPIO_POP", 1)
    assert vm.read(GPIO, "GPIO_RESULT") == 0


def test_pins_wait_for_their_time(tmp_path):
    """The cycles in between are skipped, and the pin changes on its cycle all the same."""
    file = tmp_path / "pins.vcd"
    devices = Devices(pins=str(file))
    vm = devices.vms[0]
    start = devices.time + 50_000_000
    vm.write(GPIO, "GPIO_COMMAND", 5 << 59 | 1 << 63 | 1 << 40 | 1 << 24 | 2)
    vm.write(GPIO, "GPIO_COMMAND", until(start))
    vm.write(GPIO, "GPIO_COMMAND", set_pins(1, 1, 0))
    vm.write(GPIO, "GPIO_CONTROL", 1)
    devices.step(60_000_000)
    assert f"#{10 * start}\n1!\n" in file.read_text()


def set_screen(devices: Devices, width: int, height: int) -> None:
    devices.set("SCREEN", 0)
    devices.set("SCREEN_H", width | 2 << 16 | 3 << 32 | 4 << 48)
    devices.set("SCREEN_V", height | 1 << 16 | 1 << 32 | 2 << 48)
    devices.set("SCREEN", 1 | 1 << 1 | 4 << 8 | 100 << 16)


def test_screen(tmp_path):
    """Two VMs draw into their rectangles; a third one's framebuffer is not its own, and its rectangle stays black."""
    file = tmp_path / "screen.ppm"
    devices = Devices(screen=str(file))
    width, height, stride = 64, 48, 256
    colors = (0x112233, 0x445566)
    for number, x in ((0, 4), (1, 20), (2, 40)):
        devices.set("SCREEN_RECT", x | 8 << 16 | 16 << 32 | 20 << 48)
        devices.set("SCREEN_SET", number | 1 << 4)
        vm = devices.vms[number]
        if number < 2:
            vm.store(0x2000, colors[number].to_bytes(4, "little") * 64 * 20)
        vm.write(DISPLAY, "SCREEN_BASE", RAM + 0x2000 if number < 2 else RAM + RAM_SIZE)
        vm.write(DISPLAY, "SCREEN_FORMAT", stride | 1 << 32)
    devices.vms[1].write(DISPLAY, "SCREEN_INT", 1)
    set_screen(devices, width, height)
    devices.step(1_100_000)
    assert devices.interrupts == 1 << 2
    devices.vms[1].write(DISPLAY, "SCREEN_INT", 1 << 1)
    assert devices.interrupts == 0
    header, _, pixels = file.read_bytes().partition(b"\n")
    assert header == b"P6 64 48 255"
    for y in range(height):
        for x in range(width):
            inside = 8 <= y < 28
            expected = colors[0] if inside and 4 <= x < 20 else colors[1] if inside and 20 <= x < 36 else 0
            at = 3 * (width * y + x)
            assert int.from_bytes(pixels[at : at + 3], "big") == expected, (x, y)
    assert devices.vms[2].read(DISPLAY, "SCREEN_STATUS") & 255 == 20, "faults"
    assert devices.get("FAULT") & 15 == 2


def test_frames_of_the_screen(tmp_path):
    """One 10 ms after the last one if a VM has written to its page, otherwise after 100 ms."""
    devices = Devices(screen=str(tmp_path / "screen.ppm"))
    set_screen(devices, 64, 48)

    def simulated(cycles: int) -> int:
        before = devices.simulated
        devices.step(cycles)
        return devices.simulated - before

    devices.vms[0].write(DISPLAY, "SCREEN_BASE", RAM)
    frame_cycles = 4 * 64 * 48
    assert simulated(1_100_000) > frame_cycles
    assert simulated(8_700_000) < 1000, "nothing changes"
    assert simulated(1_300_000) > frame_cycles
    devices.vms[0].write(DISPLAY, "SCREEN_BASE", RAM)
    assert simulated(1_100_000) > frame_cycles


def test_copies(devices):
    """Of any alignment, within the VM's windows."""
    generator = random.Random(3)
    vm = ready(devices.vms[2], COPY)
    for _ in range(20):
        number, source, target = (
            generator.randrange(1, 700),
            generator.randrange(0x1000),
            0x3000 + generator.randrange(64),
        )
        data = generator.randbytes(number)
        vm.store(source, data)
        around = vm.load(target - 1, 1), vm.load(target + number, 1)
        done = vm.do(COPY, 0, RAM + target, number, RAM + source)
        assert (done.status, done.bytes) == (DONE, number)
        assert vm.load(target, number) == data
        assert (vm.load(target - 1, 1), vm.load(target + number, 1)) == around
    assert vm.do(COPY, 0, RAM, 64, RAM - 64).status == VIOLATION
    assert vm.do(COPY, 0, RAM + RAM_SIZE, 64, RAM).status == VIOLATION


def keep_busy(vms: list[Client], size: int) -> int:
    """Fills their FIFOs with copies of `size` bytes and short reads of the flash. Returns the number of done copies."""
    copies = 0
    for vm in vms:
        while vm.completion(COPY):
            copies += 1
        while vm.completion(FLASH):
            pass
        while vm.read(COPY, "CHANNEL_STATUS") & 31 < 4:
            vm.submit(COPY, 0, RAM + 0x2001, size, RAM + 0x6003)
        while vm.read(FLASH, "CHANNEL_STATUS") & 31 < 4:
            vm.submit(FLASH, READ, RAM + 0x9001, 1, 0)
    return copies


def send_beside(vm: Client, length: int, busy: list[Client], size: int) -> tuple[int, int]:
    """Returns the status of a frame that is sent beside VMs that copy and read the flash, and the number of copies."""
    vm.submit(SEND, 0, RAM + 0x1005, length)
    done: list[int] = []
    copies = 0

    def look() -> bool:
        nonlocal copies
        copies += keep_busy(busy, size)
        completion = vm.completion(SEND)
        done.extend([completion.status] if completion else [])
        return bool(done)

    vm.devices.wait_for(look, 20_000)
    return done[0], copies


@pytest.mark.parametrize("size", [1, 1000, 4096])
def test_a_frame_beside_copies_does_not_starve(devices, size):
    """
    Four VMs copy and read the flash without pause while another one sends, and a sixth one receives at the same time.
    A frame on the wire needs a burst every 128 cycles. How the other bursts lie to these depends on the cycle in which
    the request is submitted, so this is swept. The memory is so slow that round robin with the copies starves frames.
    """
    first, second, *others = (ready(vm, FLASH, SEND, RECEIVE, COPY) for vm in devices.vms)
    devices.library.shared_latency(LATENCY)
    sent = frame(first, second.mac, random.Random(5).randbytes(1500))
    arriving = frame(others[3], second.mac, random.Random(6).randbytes(1500))
    first.store(0x1005, sent)
    copies = 0
    for offset in range(0, 128, 4):
        for at in (0x3003, 0x4004):
            second.submit(RECEIVE, 1, RAM + at, 1600)
        devices.receive(arriving)
        keep_busy(others, size)
        devices.step(64 + offset)
        status, more = send_beside(first, len(sent), others, size)
        assert status == DONE, f"submitted {offset} cycles later"
        copies += more
        assert [second.wait(RECEIVE).status for _ in range(2)] == [DONE, DONE]
        assert second.load(0x3003, len(arriving)) == arriving
        assert second.load(0x4004, len(sent)) == sent, "the switch reflects it"
    assert copies, "the copies go on"


THR, IER, FCR, LCR, LSR = 0, 4, 8, 12, 20  # of a 16550A with a stride of 4


def set_uart(devices: Devices, *, mode: int = 0, focus: int = 0) -> None:
    devices.set("UART", 16 | mode << 16 | focus << 20 | 20 << 32)


def print_line(devices: Devices, vm: Client, text: str) -> None:
    for byte in text.encode():
        devices.wait_for(lambda: devices.read(vm.page(UART) + LSR, 4) & 0x20 != 0)
        devices.write(vm.page(UART) + THR, byte, 1)


def test_lines_of_the_uart(tmp_path):
    """Bytes of two VMs, sent in turns, are lines with their owners."""
    file = tmp_path / "uart"
    devices = Devices(uart=str(file))
    set_uart(devices)
    for first, second in zip("hello from 1\n", "greetings, 2\n", strict=True):
        print_line(devices, devices.vms[1], first)
        print_line(devices, devices.vms[2], second)
    devices.step(100_000)
    assert sorted(file.read_text().split("\n")) == ["", "[1] hello from 1", "[2] greetings, 2"]


def test_incomplete_line_of_the_uart(tmp_path):
    """It is sent after its time, although nothing else happens and no VM accesses the UART."""
    file = tmp_path / "uart"
    devices = Devices(uart=str(file))
    set_uart(devices)
    print_line(devices, devices.vms[2], "question? ")
    assert file.read_text() == ""
    devices.step(20_000)
    assert file.read_text() == "[2] question? "


def test_input_of_the_uart():
    """The VM in focus receives what is typed, and an interrupt; another VM does not."""
    devices = Devices()
    set_uart(devices, focus=2)
    vm, other = devices.vms[2], devices.vms[1]
    for one in (vm, other):
        devices.write(one.page(UART) + FCR, 1, 4)
        devices.write(one.page(UART) + IER, 1, 4)
    devices.library.shared_type(b"ok")
    devices.wait_interrupt(1 << 3)
    devices.step(10_000)
    assert [devices.read(vm.page(UART), 4) for _ in range(2)] == [ord("o"), ord("k")]
    assert devices.read(vm.page(UART) + LSR, 4) & 1 == 0
    assert devices.read(other.page(UART) + LSR, 4) & 1 == 0
    assert devices.interrupts == 0


@pytest.mark.parametrize("shorter", [0, 240])
def test_lines_of_the_builders_bound(shorter):
    """The shortest line for which the image builder accepts rectangles with bursts as slow as the board's: no pixel is
    late at the address with the most bursts."""
    burst = read_board(ROOT / "platform" / "qemu-virt" / "board.dts").shared_devices.burst_cycles
    rects = [(4 * number, 0, 4, 8) for number in range(VMS)]
    devices = Devices()
    for vm, (x, _, width, height) in zip(devices.vms, rects, strict=True):
        devices.set("SCREEN_RECT", x | width << 32 | height << 48)
        devices.set("SCREEN_SET", vm.number | 1 << 4)
        vm.write(DISPLAY, "SCREEN_BASE", RAM + 0x78)  # two bursts a line
        vm.write(DISPLAY, "SCREEN_FORMAT", 256 | 1 << 32)
    cycles = display.needed_cycles(rects, burst, VMS) - shorter
    devices.set("SCREEN", 0)
    devices.set("SCREEN_H", 4 * VMS | (cycles - 4 * VMS - 2) << 16 | 1 << 32 | 1 << 48)
    devices.set("SCREEN_V", 8 | 1 << 16 | 1 << 32 | 1 << 48)
    devices.set("SCREEN", 1 | 1 << 8 | burst << 16)
    devices.step(20 * 11 * cycles)
    incomplete = [vm.read(DISPLAY, "SCREEN_STATUS") for vm in devices.vms]
    assert (sum(incomplete) > 0) == (shorter > 0)


def hostile_write(generator: random.Random, devices: Devices, vm: Client) -> None:
    """Any value into any register of the VM's pages, or a plausible request."""
    device = generator.choice((UART, FLASH, SEND, RECEIVE, COPY, DISPLAY, GPIO, SPI))
    offset = 8 * generator.randrange(10)
    size = generator.choice((1, 2, 4, 8, 8, 8))
    value = generator.getrandbits(8 * size)
    if generator.random() < 0.5 and device not in (UART, DISPLAY, GPIO, SPI):
        address = generator.choice(
            (RAM, RAM + RAM_SIZE - 64, generator.getrandbits(41), RAM + generator.randrange(RAM_SIZE))
        )
        vm.submit(
            device,
            generator.randrange(4),
            address,
            generator.choice((0, 1, 60, 1514, 65535)),
            generator.getrandbits(32),
        )
    else:
        devices.library.shared_write(vm.page(device) + offset, size, value)


@pytest.mark.parametrize("seed", range(4))
def test_hostile_vms(seed):
    """Two VMs write anything anywhere in their pages. A third one's requests are right all the same, and no byte of its
    memory, of its sectors and of its pins changes."""
    generator = random.Random(seed)
    devices = Devices()
    victim = ready(devices.vms[3], FLASH)
    data = generator.randbytes(64)
    assert victim.do(FLASH, PROGRAM, victim.store(0, data), 64, 0).status == DONE
    devices.set("ARBITER", 1 | 7 << 8, index=0)
    devices.allow(3, FLASH, 15)
    devices.set("TIMEOUT", 50_000, index=SEND - 1)
    for _ in range(40):
        for _ in range(20):
            hostile_write(generator, devices, devices.vms[generator.randrange(2)])
            devices.step(generator.randrange(60))
        if generator.random() < 0.2:
            devices.set("FLUSH", field("SHARED_FLUSH_VM", generator.randrange(2)))
        before = bytes(victim.memory[0x100 : RING - RAM])
        assert victim.do(FLASH, READ, RAM + 0x80, 64, 0).status == DONE
        assert victim.load(0x80, 64) == data
        assert bytes(victim.memory[0x100 : RING - RAM]) == before
        assert devices.library.shared_pins() >> 24 == 0
    assert devices.library.shared_complaints() == 0


def _removed(write: tuple[int, int], after: int, *, manager: bool) -> tuple[Devices, Client]:
    """VM 0 begins an erase or a program operation beside a VM that reads, and loses it after so many cycles."""
    devices = Devices()
    devices.set("FLASH", 2 | 10 << 8 | 6000 << 32)  # short slices, so that reads suspend it
    vm, other = ready(devices.vms[0], FLASH), ready(devices.vms[1], FLASH)
    assert vm.do(FLASH, PROGRAM, vm.store(0x2000, b"old!"), 4, 2 * SECTOR).status == DONE
    vm.submit(FLASH, write[0], RAM, write[1], 0)
    devices.step(after)
    for tag in range(4):
        other.submit(FLASH, READ, RAM, 2000, 0, tag)
    if manager:
        devices.set("FLUSH", 0)
    else:
        vm.write(FLASH, "CHANNEL_FLUSH", 1)
    devices.wait_for(lambda: devices.get("BUSY") & 1 == 0)
    for _ in range(4):
        assert other.wait(FLASH, 10_000_000).status == DONE
    return devices, ready(vm, FLASH)


@pytest.mark.parametrize(
    "after", [0, pytest.param(300, marks=pytest.mark.long), 1500, pytest.param(4000, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("write", "manager"), [((ERASE, 0), False), ((PROGRAM, 256), True)], ids=["erase", "program"])
def test_what_follows_a_removed_write_is_done(write, manager, after):
    """Whenever it is removed: no later request of the VM is taken for it."""
    _, vm = _removed(write, after, manager=manager)
    assert vm.do(FLASH, PROGRAM, vm.store(0x100, b"data"), 4, SECTOR).status == DONE
    assert vm.do(FLASH, READ, RAM, 4, SECTOR).data == int.from_bytes(b"data", "little"), after
    _, vm = _removed(write, after, manager=manager)
    assert vm.do(FLASH, ERASE, RAM, 0, 2 * SECTOR).status == DONE
    assert vm.do(FLASH, READ, RAM, 4, 2 * SECTOR).data == 0xFFFFFFFF, after
    devices, vm = _removed(write, after, manager=manager)
    other = devices.vms[1]  # whose program operation ends the removed one
    assert other.do(FLASH, PROGRAM, other.store(0x100, b"more"), 4, 0).status == DONE
    assert vm.do(FLASH, READ, RAM + 0x3000, 8, 2 * SECTOR).status == DONE
    assert vm.load(0x3000, 8) == b"old!" + 4 * b"\xff", after
