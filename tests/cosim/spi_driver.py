# SPDX-License-Identifier: Apache-2.0
"""What Linux does with the SPI face: the accesses of its drivers spi-sifive and spi-nor, in their order."""

from shared_devices import SPI, Client

CSID, CSDEF, CSMODE, DELAY0, DELAY1 = 0x10, 0x14, 0x18, 0x28, 0x2C
SCKDIV, SCKMODE, FMT, TXDATA, RXDATA = 0x00, 0x04, 0x40, 0x48, 0x4C
TXMARK, RXMARK, FCTRL, IE, IP = 0x50, 0x54, 0x60, 0x70, 0x74
AUTO, HOLD = 0, 2
TXWM, RXWM = 1, 2
FULL = EMPTY = 1 << 31
LENGTH_8, TX_ONLY = 8 << 16, 8  # of FMT
DEPTH = 8

RDID, RDSR, RDCR, WREN, WRDI, READ, FAST, PP, SE, CLSR, SFDP = (
    0x9F, 0x05, 0x35, 0x06, 0x04, 0x03, 0x0B, 0x02, 0xD8, 0x30, 0x5A,
)  # fmt: skip
WIP, WEL, E_ERR, P_ERR = 1, 2, 1 << 5, 1 << 6
PAGE, SECTOR = 256, 65536
S25FL128S1 = bytes([0x01, 0x20, 0x18, 0x4D, 0x01, 0x80])


class Controller:
    """spi-sifive on the face of a VM."""

    def __init__(self, vm: Client, *, interrupts: bool = False):
        self.vm = vm
        self.devices = vm.devices
        self.by_interrupt = interrupts
        self.interrupts = 0

    def write(self, register: int, value: int) -> None:
        self.devices.write(self.vm.page(SPI) + register, value, 4)

    def read(self, register: int) -> int:
        return self.devices.read(self.vm.page(SPI) + register, 4) & 0xFFFFFFFF

    def probe(self) -> int:
        """Returns the number of chip selects."""
        inactive = self.read(CSDEF)
        self.write(CSDEF, 0xFFFFFFFF)
        bits = self.read(CSDEF)
        self.write(CSDEF, inactive)
        self.write(IE, 0)
        self.write(TXMARK, 1)
        self.write(RXMARK, 0)
        self.write(DELAY0, 0x10001)
        self.write(DELAY1, 1)
        self.write(FCTRL, 0)
        return bits.bit_length()

    def message(self, *transfers: tuple[bytes, int]) -> bytes:
        """Each transfer is bytes to send, or none and a number to receive. Returns what was received."""
        self.write(CSDEF, 1)
        self.write(CSID, 0)
        self.write(SCKMODE, 0)
        self.write(CSMODE, HOLD)
        received = b"".join(self._transfer(sent, number) for sent, number in transfers)
        self.write(CSMODE, AUTO)
        return received

    def _transfer(self, sent: bytes, number: int) -> bytes:
        self.write(SCKDIV, 3)
        self.write(FMT, LENGTH_8 | (0 if number else TX_ONLY))
        left, received = sent or bytes(number), b""
        while left:
            words, left = left[:DEPTH], left[DEPTH:]
            for word in words:
                assert not self.read(TXDATA) & FULL
                self.write(TXDATA, word)
            if number:
                self.write(RXMARK, len(words) - 1)
                self._wait(RXWM)
                received += bytes(self._received() for _ in words)
            else:
                self._wait(TXWM)
        return received

    def _received(self) -> int:
        data = self.read(RXDATA)
        assert not data & EMPTY
        return data & 0xFF

    def _wait(self, bit: int) -> None:
        if not self.by_interrupt:
            self.devices.wait_for(lambda: bool(self.read(IP) & bit), at_once=8)
            return
        self.write(IE, bit)
        self.devices.wait_interrupt(2 << self.vm.number)
        self.interrupts += 1
        assert self.read(IP) & (TXWM | RXWM)
        self.write(IE, 0)
        assert not self.devices.interrupts & 2 << self.vm.number


class Nor:
    """spi-nor with an s25fl128s1."""

    def __init__(self, controller: Controller):
        self.controller = controller
        self.polls = 0

    def op(self, code: int, address: int | None = None, dummy: int = 0, data: bytes = b"", number: int = 0) -> bytes:
        """A transfer for each part, as spi_mem_exec_op makes them."""
        transfers = [(bytes([code]), 0)]
        if address is not None:
            transfers.append((address.to_bytes(3, "big"), 0))
        if dummy:
            transfers.append((b"\xff" * dummy, 0))
        if data or number:
            transfers.append((data, number))
        return self.controller.message(*transfers)

    def probe(self) -> None:
        assert self.op(RDID, number=6) == S25FL128S1
        assert self.op(SFDP, 0, 1, number=16)[:4] != b"SFDP"

    def status(self) -> int:
        return self.op(RDSR, number=1)[0]

    def read(self, address: int, number: int, *, fast: bool = False) -> bytes:
        return self.op(FAST if fast else READ, address, int(fast), number=number)

    def write(self, address: int, data: bytes) -> None:
        while data:
            room = PAGE - address % PAGE
            self.op(WREN)
            self.op(PP, address, data=data[:room])
            self._wait_till_ready()
            address, data = address + room, data[room:]

    def erase(self, address: int) -> None:
        self.op(WREN)
        self.op(SE, address)
        self._wait_till_ready()
        self.op(WRDI)

    def _wait_till_ready(self) -> None:
        for _ in range(2000):
            if self._ready():
                return
            self.polls += 1
            self.controller.devices.step(500)
        raise AssertionError("the flash is not ready")

    def _ready(self) -> bool:
        status = self.status()
        if status & (E_ERR | P_ERR):
            self.op(CLSR)
            self.op(WRDI)
            raise OSError("EIO")
        return not status & WIP
