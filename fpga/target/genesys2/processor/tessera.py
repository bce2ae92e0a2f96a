# SPDX-License-Identifier: Apache-2.0
"""The SoC of fpga/target/soc as a processor of LiteX. The other files here are what LiteX's boot program needs of
one."""

from litex.soc.cores.cpu import CPU, CPU_GCC_TRIPLE_RISCV64
from litex.soc.interconnect import axi
from migen import ClockSignal, Instance, Record, ResetSignal, Signal

# The addresses of the devices are those of soc_pkg's board, 0x3000_0000 to 0x4fff_ffff.
CSR_BASE = 0x3000_0000
ROM_BASE = 0x4000_0000  # where the SoC's boot ROM goes: StartAddr in soc_genesys2.sv
RAM_BASE = 0x4100_0000  # the boot program's variables and stack
ETHERNET_BASE = 0x3800_0000
DRAM_BASE = 0x8000_0000
# By the variant, the CSR of the data cache's switch: the core of 2022, and the one with H (fpga/target/soc).
DATA_CACHE_CSR = {"standard": 0x701, "h": 0x7C1}


class Tessera(CPU):
    """The SoC as a processor of LiteX: an instance of soc_genesys2, whose bus ports are in LiteX's clock."""

    category, family, name, human_name = "softcore", "riscv", "tessera", "CVA6 with Tessera's fabric"
    variants = list(DATA_CACHE_CSR)
    data_width = 64
    endianness = "little"
    gcc_triple = CPU_GCC_TRIPLE_RISCV64
    base_flags = "-march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany"
    linker_output_format = "elf64-littleriscv"
    nop = "nop"
    io_regions = {CSR_BASE: ROM_BASE - CSR_BASE}
    mem_map = {
        "csr": CSR_BASE,
        "ethmac": ETHERNET_BASE,
        "rom": ROM_BASE,
        "sram": RAM_BASE,
        "main_ram": DRAM_BASE,
    }

    def __init__(self, platform: object, variant: str = "standard") -> None:
        self.platform, self.variant = platform, variant
        self.reset = Signal()
        # Not named `interrupt`: LiteX would give its boot program a driver of its own for the PLIC. It polls instead.
        self.sources = Signal(5)
        self.io = axi.AXIInterface(data_width=32, address_width=32, id_width=5)
        self.memory = axi.AXIInterface(data_width=256, address_width=32, id_width=5)
        self.periph_buses, self.memory_buses = [self.io], [self.memory]
        self.pins = Record(
            [(name, 1) for name in ("rx", "tx", "cs_n", "sck", "mosi", "miso", "shared_rx", "shared_tx", "shared_cs_n",
                                    "shared_sck", "shared_mosi", "shared_miso", "hsync", "vsync")]
            + [("pin_in", 32), ("pin_out", 32), ("pin_enable", 32), ("red", 5), ("green", 6), ("blue", 5)]
        )  # fmt: skip
        self.params = dict(
            i_clk_i=ClockSignal("soc"),
            i_rst_ni=~(ResetSignal("soc") | self.reset),
            i_bus_clk_i=ClockSignal("sys"),
            i_bus_rst_ni=~(ResetSignal("sys") | self.reset),
            i_irq_i=self.sources,
            **_bus("io", self.io),
            **_bus("mem", self.memory),
            **self._pins(),
        )

    def _pins(self) -> dict[str, Signal]:
        pins = self.pins
        inputs = ["rx", "miso", "shared_rx", "shared_miso"]
        outputs = ["tx", "sck", "mosi", "shared_tx", "shared_sck", "shared_mosi"]
        outputs += ["hsync", "vsync", "red", "green", "blue"]
        connected = {f"i_{name}_i": getattr(pins, name) for name in inputs}
        connected |= {f"o_{name}_o": getattr(pins, name) for name in outputs}
        connected |= {"o_cs_no": pins.cs_n, "o_shared_cs_no": pins.shared_cs_n}
        return connected | {"i_pin_i": pins.pin_in, "o_pin_o": pins.pin_out, "o_pin_oe_o": pins.pin_enable}

    @property
    def gcc_flags(self) -> str:
        return f"{self.base_flags} -DTESSERA_DATA_CACHE={DATA_CACHE_CSR[self.variant]:#x} "

    def set_reset_address(self, reset_address: int) -> None:
        if reset_address != ROM_BASE:
            raise ValueError(f"expected the ROM at {ROM_BASE:#x}, where soc_genesys2 starts, got {reset_address:#x}")
        self.reset_address = reset_address

    def do_finalize(self) -> None:
        self.specials += Instance("soc_genesys2", name="soc", **self.params)


def _bus(name: str, bus: axi.AXIInterface) -> dict[str, Signal]:
    """The connections of an AXI port of soc_genesys2."""
    params = {}
    for channel, is_request in (("aw", True), ("ar", True), ("w", True), ("b", False), ("r", False)):
        signals = getattr(bus, channel)
        ready, valid = ("i", "o") if is_request else ("o", "i")
        params[f"{valid}_{name}_{channel}_valid_{valid}"] = signals.valid
        params[f"{ready}_{name}_{channel}_ready_{ready}"] = signals.ready
        for field in _FIELDS[channel]:
            params[f"{valid}_{name}_{channel}_{field}_{valid}"] = getattr(signals, field)
    return params


_ADDRESS = ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos", "region")
_FIELDS = {
    "aw": _ADDRESS,
    "ar": _ADDRESS,
    "w": ("data", "strb", "last"),
    "b": ("id", "resp"),
    "r": ("id", "data", "resp", "last"),
}
