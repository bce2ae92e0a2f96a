# SPDX-License-Identifier: Apache-2.0
"""
The Genesys2's design: LiteX makes the board's part around the SoC of fpga/target/soc, as a processor of LiteX (class
Tessera). It writes Verilog and constraints, and with --software the boot program for its ROM.

Runs in cache/litex, without the other Python packages: `board.py FOLDER`. The sources of the SoC are not LiteX's
concern (design.py).
"""

import argparse
import sys
from pathlib import Path

from litedram.modules import MT41J256M16
from litedram.phy import s7ddrphy
from liteeth.phy.s7rgmii import LiteEthPHYRGMII
from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.gen import ClockDomain, LiteXModule
from litex.soc.cores.clock import S7IDELAYCTRL, S7MMCM
from litex.soc.cores.cpu import CPUS
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc_core import SoCCore
from litex_boards.platforms import digilent_genesys2
from migen import Cat, Record, Signal, TSTriple
from processor.tessera import Tessera

SOC_HZ = 50_000_000
BUS_HZ = 100_000_000  # LiteX's clock; LiteDRAM's is four times as fast, within DDR3's limits
BAUD = 115_200
# PLIC sources are 3 + these.
INTERRUPTS = {"ethmac": 0, "sdcard": 1, "timer0": 2}

# Connectors of the board that litex_boards does not have. Pins of the Pmods JA to JD: 1 to 4, 7 to 10.
_LVCMOS33 = IOStandard("LVCMOS33")


def _spi(number: int, pins: str) -> tuple:
    """Pins 1 to 4 of a Pmod of type 2."""
    names = ("cs_n", "mosi", "miso", "sck")
    signals = (Subsignal(name, Pins(pin)) for name, pin in zip(names, pins.split(), strict=True))
    return ("spi", number, *signals, _LVCMOS33)


EXTENSION = [
    _spi(0, "V27 Y30 V24 W22"),  # JD: the core's
    _spi(1, "U27 U28 T26 T27"),  # JA: the shared flash
    ("pmod_b", 0, Pins("V29 V30 V25 W26 T25 U25 U22 U23"), _LVCMOS33),
    ("shared_serial", 0, Subsignal("tx", Pins("AJ27")), Subsignal("rx", Pins("AH30")), _LVCMOS33),  # JC, pins 2 and 3
    (
        "vga",
        0,
        Subsignal("red", Pins("AK25 AG25 AH25 AK24 AJ24")),
        Subsignal("green", Pins("AJ23 AJ22 AH22 AK21 AJ21 AK23")),
        Subsignal("blue", Pins("AH20 AG20 AF21 AK20 AG22")),
        Subsignal("hsync", Pins("AF20")),
        Subsignal("vsync", Pins("AG23")),
        _LVCMOS33,
    ),
]  # fmt: skip


class Clocks(LiteXModule):
    """All clocks from the board's 200 MHz by one MMCM: the two buses' clocks have a fixed relation."""

    def __init__(self, platform: digilent_genesys2.Platform) -> None:
        self.rst = Signal()
        self.cd_sys = ClockDomain()
        self.cd_sys4x = ClockDomain()
        self.cd_idelay = ClockDomain()
        self.cd_soc = ClockDomain()
        self.pll = S7MMCM(speedgrade=-2)
        self.comb += self.pll.reset.eq(~platform.request("cpu_reset_n") | self.rst)
        self.pll.register_clkin(platform.request("clk200"), 200e6)
        self.pll.create_clkout(self.cd_sys, BUS_HZ)
        self.pll.create_clkout(self.cd_sys4x, 4 * BUS_HZ)
        self.pll.create_clkout(self.cd_idelay, 200e6)
        self.pll.create_clkout(self.cd_soc, SOC_HZ)
        # The reset by software. LiteX's own constraint would cover the clocks made from the input as well, and so leave
        # the paths between `sys` and `soc` without a bound.
        self.cd_sys.clk.attr.add("keep")
        self.pll.clkin.attr.add("keep")
        platform.add_platform_command(
            "set_false_path -from [get_clocks -of_objects [get_nets {bus}]]"
            " -to [get_clocks -of_objects [get_nets {board}]]",
            bus=self.cd_sys.clk,
            board=self.pll.clkin,
        )
        self.idelayctrl = S7IDELAYCTRL(self.cd_idelay)


class Board(SoCCore):
    """The SoC with DDR3, SD card, Ethernet, and the pins of its own devices."""

    def __init__(self, core: str) -> None:
        platform = digilent_genesys2.Platform()
        platform.add_extension(EXTENSION)
        self.crg = Clocks(platform)
        SoCCore.__init__(
            self, platform, BUS_HZ, ident="Tessera on Genesys2", cpu_type="tessera", cpu_variant=core,
            bus_standard="axi-lite", bus_data_width=32, bus_address_width=32, with_uart=False,
            integrated_rom_size=0x1_0000, integrated_sram_size=0x4000,
        )  # fmt: skip
        self.ddrphy = s7ddrphy.K7DDRPHY(platform.request("ddram"), memtype="DDR3", nphases=4, sys_clk_freq=BUS_HZ)
        # Without LiteX's L2 cache, which the SoC's own port to LiteDRAM would pass by.
        self.add_sdram("sdram", phy=self.ddrphy, module=MT41J256M16(BUS_HZ, "1:4"), l2_cache_size=0)
        self.add_sdcard()
        self.ethphy = LiteEthPHYRGMII(clock_pads=platform.request("eth_clocks"), pads=platform.request("eth"))
        self.add_ethernet(phy=self.ethphy)
        self._connect_interrupts()
        self._connect_console()
        self._connect_pins()

    def _connect_interrupts(self) -> None:
        self.comb += [
            self.cpu.sources[INTERRUPTS["ethmac"]].eq(self.ethmac.ev.irq),
            self.cpu.sources[INTERRUPTS["sdcard"]].eq(self.sdcard_irq.irq),
            self.cpu.sources[INTERRUPTS["timer0"]].eq(self.timer0.ev.irq),
        ]

    def _connect_console(self) -> None:
        """The SoC's 16550, and on the same pins LiteX's UART for the boot program: one of them is idle."""
        pads = self.platform.request("serial")
        shared = Record([("tx", 1), ("rx", 1)])
        self.add_uart(uart_pads=shared, baudrate=BAUD)
        self.comb += [
            pads.tx.eq(self.cpu.pins.tx & shared.tx),
            self.cpu.pins.rx.eq(pads.rx),
            shared.rx.eq(pads.rx),
        ]

    def _connect_pins(self) -> None:
        pins, request = self.cpu.pins, self.platform.request
        spi, shared_spi, serial, vga = request("spi", 0), request("spi", 1), request("shared_serial"), request("vga")
        self.comb += [
            spi.cs_n.eq(pins.cs_n), spi.sck.eq(pins.sck), spi.mosi.eq(pins.mosi), pins.miso.eq(spi.miso),
            shared_spi.cs_n.eq(pins.shared_cs_n), shared_spi.sck.eq(pins.shared_sck),
            shared_spi.mosi.eq(pins.shared_mosi), pins.shared_miso.eq(shared_spi.miso),
            serial.tx.eq(pins.shared_tx), pins.shared_rx.eq(serial.rx),
            vga.hsync.eq(pins.hsync), vga.vsync.eq(pins.vsync),
            vga.red.eq(pins.red), vga.green.eq(pins.green), vga.blue.eq(pins.blue),
        ]  # fmt: skip
        self._connect_gpio()

    def _connect_gpio(self) -> None:
        """Pins 0 to 7: LEDs; 8 to 15: switches; 16 to 20: buttons; 24 to 31: Pmod JB, in both directions."""
        pins, request = self.cpu.pins, self.platform.request
        leds = Cat(*(request("user_led", i) for i in range(8)))
        switches = Cat(*(request("user_sw", i) for i in range(8)))
        buttons = Cat(*(request(f"user_btn_{name}") for name in "cdlru"))
        pads, pmod = request("pmod_b"), [TSTriple() for _ in range(8)]
        for i, pin in enumerate(pmod):
            self.specials += pin.get_tristate(pads[i])
            self.comb += [pin.o.eq(pins.pin_out[24 + i]), pin.oe.eq(pins.pin_enable[24 + i])]
        self.comb += [
            leds.eq(pins.pin_out[0:8] & pins.pin_enable[0:8]),
            pins.pin_in.eq(Cat(leds, switches, buttons, Signal(3), *(pin.i for pin in pmod))),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--software", action="store_true", help="compile the boot program, and put it into the ROM")
    parser.add_argument(
        "--core", choices=Tessera.variants, default="standard", help="the CVA6 of 2022, or the one with H"
    )
    arguments = parser.parse_args()
    CPUS["tessera"] = Tessera
    board = Board(arguments.core)
    builder = Builder(
        board, output_dir=str(arguments.folder), compile_software=arguments.software, compile_gateware=False,
        csr_csv=str(arguments.folder / "csr.csv"),
    )  # fmt: skip
    builder.build(build_name="genesys2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
