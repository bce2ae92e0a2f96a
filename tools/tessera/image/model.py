# SPDX-License-Identifier: Apache-2.0
"""A board and a system in memory, after the schema was applied, before or after placement."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from tessera.image import virtual
from tessera.image.emulated import EMULATED, Emulated
from tessera.image.layout import align_up
from tessera.image.shared import shared_image
from tessera.image.validate import Read
from tessera.image.virtual import Machine

RELEASE_LOCKS = 2  # acquisitions of the scheduler's lock per release; a switch takes the lock once


@dataclass(frozen=True)
class BoardDevice:
    """A device of the board that can be passed through."""

    name: str
    compatible: str
    node_name: str
    base: int
    size: int
    interrupt: int  # 0: none
    bank_width: int  # bytes of an access to a CFI flash; 0: it is no flash
    reset: int  # offset of the 32-bit register that resets the device when 0 is written; 0: none
    qemu_bus: str | None


@dataclass(frozen=True)
class Fabric:
    """The board's reconfigurable fabric."""

    base: int
    interrupt: int  # the manager's
    vm_interrupt: int  # of the first VM; those of the other VMs follow
    vms: int
    devices: int
    size_classes: tuple[int, ...]  # of each region
    frames: tuple[tuple[tuple[int, int], ...], ...]  # of each region: blocks, address of the first frame and number
    frames_file: str | None  # which has them, for a device whose tools decide them
    idcode: int  # of the 7-series device that bitstreams are for; 0: the simulation's ICAP
    key: bytes = field(repr=False)  # of bitstreams' tags
    clock_hz: int
    interrupt_cycles: int  # from an event to its interrupt, at most

    def cycles(self, us: int) -> int:
        return us * (self.clock_hz // 10**6)


@dataclass(frozen=True)
class SharedDevices:
    """The board's devices that VMs share."""

    base: int
    interrupt: int  # the manager's
    vm_interrupt: int  # of the first VM; those of the other VMs follow
    vms: int
    devices: tuple[str, ...]  # those that exist
    flash_sectors: int
    pins: int
    screen_width: int
    burst_cycles: int  # of a burst at memory, at most
    clock_hz: int

    def cycles(self, us: int) -> int:
        return us * (self.clock_hz // 10**6)


@dataclass(frozen=True)
class PciBus:
    """The board's PCI bus."""

    configuration: int  # address of the configuration space of bus 0
    memory: int  # addresses of the bus for BARs: from here on
    interrupt: int  # source of its first interrupt line
    qemu_bus: str | None


@dataclass(frozen=True)
class Board:
    """A board; addresses are host-physical, sizes in bytes."""

    name: str
    machine: Machine
    harts: int
    max_vms: int
    max_vcpus: int
    max_rt_apps: int
    ram_base: int
    ram_size: int
    dma_alias: int  # from memory to its address that harts do not cache; 0: DMA is coherent
    load_address: int
    timebase_hz: int
    rt_release_ns: int
    rt_switch_ns: int
    rt_blocked_ns: tuple[int, ...]  # on 1 hart, on 2, on up to 4, on up to 8
    rt_blocked_functions_ns: tuple[int, ...]  # in a system with PCI functions
    rt_lock_ns: int
    rt_notify_ns: int
    rt_ipi_ns: int
    rt_firmware_ns: int
    rom_size: int
    isa_base: str | None
    isa_extensions: tuple[str, ...]
    cbo_block_size: int
    iasim_board: str | None
    spike_isa: str | None
    soc_simulation: bool
    qemu_machine: str | None
    qemu_arguments: tuple[str, ...]
    devices: dict[str, BoardDevice]
    fabric: Fabric | None = None
    shared_devices: SharedDevices | None = None
    pci: PciBus | None = None

    @property
    def ram_end(self) -> int:
        return self.ram_base + self.ram_size

    def section_ns(self, harts: int, functions: bool = False) -> int:
        """Returns the hypervisor's longest non-preemptible section in a system that uses `harts` harts; `functions`:
        and has PCI functions."""
        sections = self.rt_blocked_functions_ns if functions else self.rt_blocked_ns
        return sections[(harts - 1).bit_length()]

    def rt_costs(self, harts: int, functions: bool = False) -> "RtCosts":
        """Returns the costs in such a system."""
        waits = (harts - 1) * self.rt_lock_ns
        ipi, notify = (self.rt_ipi_ns, self.rt_notify_ns) if harts > 1 else (0, 0)
        return RtCosts(
            release_ns=self.rt_release_ns + notify + ipi + RELEASE_LOCKS * waits,
            switch_ns=self.rt_switch_ns + ipi + waits,
            # The maximum, not the sum: a pending interrupt is taken between the firmware's handling
            # of a guest's instruction and the hypervisor's. Firmware that prints holds a lock, for
            # which the other harts wait.
            blocked_ns=max(self.section_ns(harts, functions), harts * self.rt_firmware_ns),
        )


@dataclass(frozen=True)
class RtCosts:
    """The costs that admission adds to the budgets of RT apps (docs/real-time.md)."""

    release_ns: int
    switch_ns: int
    blocked_ns: int


@dataclass(frozen=True)
class File:
    """A file that goes into the system image."""

    path: Path
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Device:
    """A device in a slot of the board."""

    node: Read
    file: Path | None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def slot(self) -> str:
        return str(self.node["slot"])

    @property
    def model(self) -> str:
        return str(self.node["model"])


@dataclass
class Shared:
    """Memory shared by several VMs, at the guest-physical address `base` in each of them."""

    id: int
    node: Read
    base: int
    size: int
    vms: tuple[str, ...]
    host_base: int = 0  # 0 until placed

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass(frozen=True)
class Bitstream:
    """The configuration of a region with a task."""

    region: int
    file: File


@dataclass(frozen=True)
class Accelerator:
    """A device of the fabric; `number` is its number there."""

    number: int
    node: Read
    bitstreams: tuple[Bitstream, ...]  # in the order of their regions

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def address(self) -> int:
        """The guest-physical address of its page."""
        return virtual.ACCEL_BASE + self.number * virtual.ACCEL_SIZE


@dataclass(frozen=True)
class VmAccelerator:
    """A device of the fabric that a VM may use. `node` has the VM's priority and model."""

    device: Accelerator
    node: Read


@dataclass(frozen=True)
class Overlay:
    """A change of the fabric: regions, each with the device that has it while the overlay is applied."""

    node: Read
    fragments: tuple[tuple[int, Accelerator], ...]

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(frozen=True)
class HostFunction:
    """A place on the machine's PCI bus: host-physical addresses, and the source of its interrupt."""

    config: int
    window: int
    interrupt: int


@dataclass
class PciFunction:
    """A function on a VM's virtual PCI bus; `slot` is its device number there. Fields that its model does not have are
    empty."""

    slot: int
    node: Read
    mac: bytes = b""
    offloads: bool = False  # of its network
    cid: int = 0
    region: Shared | None = None
    content: File | None = None  # what the disk contains at boot; the rest are zeros
    disk_size: int = 0
    disk_host: int = 0  # 0 until placed
    device: Accelerator | None = None
    host: HostFunction | None = None
    unit: Accelerator | None = None  # that the hypervisor operates
    server: str = ""  # the VM that serves the disk
    offset: int = 0  # in the server's disk

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def model(self) -> str:
        return self.node["model"]

    @property
    def is_hardware_io(self) -> bool:
        """Whether it has the VM's shared devices."""
        return self.model == "hardware-io"

    @property
    def has_dma_memory(self) -> bool:
        """Whether BAR 2 is the VM's memory for DMA."""
        return bool(self.node["dma-memory"])

    @property
    def bars(self) -> tuple[int, int]:
        """The guest-physical address of BAR 0, or of the BARs of a function of the machine, and their bytes."""
        if self.device:
            return self.device.address, virtual.ACCEL_SIZE
        if self.is_hardware_io:
            return virtual.SHARED_BASE, shared_image.PAGES * virtual.SHARED_PAGE
        if self.model == "host":
            return virtual.PCI_HOST_BARS + self.slot * virtual.PCI_HOST_WINDOW, virtual.PCI_HOST_WINDOW
        return virtual.PCI_BARS + self.slot * virtual.PCI_BAR_SIZE, virtual.PCI_BAR_SIZE

    @property
    def irq(self) -> int:
        if self.is_hardware_io:
            return virtual.SHARED_IRQ
        return virtual.ACCEL_IRQ if self.device else virtual.PCI_IRQ + self.slot


@dataclass
class Load:
    """Bytes that are copied to the guest-physical address `gpa`; `span` is the size that they
    occupy at run time."""

    what: str  # the property that names the load, or "device tree"
    gpa: int
    data: bytes
    span: int

    @property
    def end(self) -> int:
        return self.gpa + self.span


@dataclass
class Memory:
    """A further piece of a VM's memory. `prop`: the property of the node that has the size, `what`: its name in
    messages."""

    node: Read
    base: int
    size: int
    prop: str
    what: str
    is_ram: bool = True  # or for DMA only
    host_base: int = 0  # 0 until placed

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass
class Vm:
    """A virtual machine. `node` holds the properties that have no field here, and their places for
    messages."""

    id: int
    node: Read
    machine: Machine
    colour: str
    memory_base: int
    memory_size: int
    host_base: int  # 0 until placed
    image_address: int
    entry: int
    dtb_address: int
    files: dict[str, File | None]  # by the properties that name them
    memory: list[Memory] = field(default_factory=list)  # beside the RAM of memory_base
    devices: list[BoardDevice] = field(default_factory=list)
    shared: list[Shared] = field(default_factory=list)
    accelerators: list[VmAccelerator] = field(default_factory=list)  # in the order of their numbers
    fabric_irq: int = 0  # host source of the interrupt of its accelerators; 0: it has none
    shared_devices: dict[str, Read] = field(default_factory=dict)  # by name, in the order of their numbers
    functions: list[PciFunction] = field(default_factory=list)  # in the order of their slots
    framebuffer: Load | None = None  # memory that the display shows from the start on; no bytes are loaded
    loads: list[Load] = field(default_factory=list)
    compatible: bool = True  # the hypervisor has the component compat

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def memory_end(self) -> int:
        return self.memory_base + self.memory_size

    @property
    def more(self) -> list[Memory]:
        """RAM beside that of memory_base."""
        return [one for one in self.memory if one.is_ram]

    @property
    def dma(self) -> Memory | None:
        """The memory for DMA."""
        return next((one for one in self.memory if not one.is_ram), None)

    @property
    def vcpus(self) -> int:
        return self.node["vcpus"]

    @property
    def has_uart(self) -> bool:
        return not self.node["no-uart"]

    @property
    def has_plic(self) -> bool:
        return self.machine.has_plic and not self.node["no-plic"]

    @property
    def emulated(self) -> dict[Emulated, int]:
        """The emulated devices that the VM has, and the interrupt source of each: 0 if it has none, if the source is
        used otherwise, or without a PLIC."""
        taken = {self.node["message-interrupt"], *(device.interrupt for device in self.devices)}
        there = filter(self._has, EMULATED)
        return {one: one.irq if self.has_plic and one.irq not in taken else 0 for one in there}

    def _has(self, one: Emulated) -> bool:
        """The schema requires the component of a device that a VM asks for; others are left out without it."""
        can = self.compatible or not one.is_default
        return can and one.is_wanted(self.node) and self._leaves(one.base, one.size)

    @property
    def mmio(self) -> list[tuple[str, int, int]]:
        """Name, guest-physical address and size of each device that the guest's device tree has:
        the emulated ones, those of the board, those of the fabric, the shared ones, then the PCI functions."""
        found = []
        if self.has_uart:
            found.append(("uart", self.machine.uart_base, virtual.UART_REGISTERS))
        if self.has_plic:
            found.append(("plic", virtual.PLIC_BASE, virtual.PLIC_SIZE))
        found += [(one.name, one.base, one.size) for one in self.emulated]
        found += [(device.name, device.base, device.size) for device in self.devices]
        found += [(one.device.name, one.device.address, virtual.ACCEL_SIZE) for one in self.accelerator_pages]
        found += [
            (name, shared_image.address(name), len(shared_image.DEVICES[name]) * virtual.SHARED_PAGE)
            for name in self.described_pages
        ]
        if self.functions:
            found.append(("pci", virtual.PCI_ECAM, virtual.PCI_ECAM_SIZE))
        return found + [(one.name, *one.bars) for one in self.functions]

    @property
    def accelerator_pages(self) -> list[VmAccelerator]:
        """The accelerators that the device tree describes: those that are no PCI functions."""
        functions = [function.device for function in self.functions]
        return [use for use in self.accelerators if use.device not in functions]

    @property
    def host_functions(self) -> list[PciFunction]:
        """Its functions that are the machine's."""
        return [one for one in self.functions if one.model == "host"]

    @property
    def pci_windows(self) -> list[tuple[int, int]]:
        """Base and size of the parts of the address space in which the functions' BARs are."""
        windows = [(virtual.PCI_BARS, virtual.PCI_WINDOW)]
        windows += [(f.region.base, f.region.size) for f in self.functions if f.region]
        windows += [f.bars for f in self.functions if f.device or f.is_hardware_io]
        windows += [(self.dma.base, self.dma.size) for f in self.functions if f.has_dma_memory and self.dma]
        return windows + [f.bars for f in self.host_functions]

    @property
    def shared_pages(self) -> list[str]:
        """The shared devices of which the VM has pages: a display that shows `framebuffer` has none."""
        return [name for name in self.shared_devices if name != "display" or self.framebuffer is None]

    @property
    def described_pages(self) -> list[str]:
        """Those of them that the device tree describes: none if they are a PCI function."""
        return [] if any(function.is_hardware_io for function in self.functions) else self.shared_pages

    @property
    def irqs(self) -> list[tuple[int, int]]:
        """The passed-through interrupts: source of the machine, source of the VM's interrupt controller. The
        component shared adds that of the shared devices."""
        found = [(device.interrupt, device.interrupt) for device in self.devices if device.interrupt]
        return found + ([(self.fabric_irq, virtual.ACCEL_IRQ)] if self.fabric_irq else [])

    def _leaves(self, base: int, size: int) -> bool:
        """Returns whether the range is free for an emulated device: devices, shared memory and RAM
        of the system's file have precedence over it."""
        ends = [(device.base, device.base + device.size) for device in self.devices]
        ends += [(region.base, region.end) for region in self.shared]
        ends += [(one.base, one.end) for one in self.more]
        ends.append((self.memory_base, self.memory_end))
        return self.machine.architecture == "riscv" and all(end <= base or base + size <= at for at, end in ends)


@dataclass
class System:
    """A whole system."""

    name: str
    source: Path
    node: Read
    board: Board
    harts: int
    quantum_us: int
    trace_kib: int  # for each hart
    machine_mask: tuple[str, ...]
    devices: list[Device]
    vms: list[Vm]
    shared: list[Shared]
    accelerators: list[Accelerator] = field(default_factory=list)
    overlays: list[Overlay] = field(default_factory=list)
    networks: list[str] = field(default_factory=list)  # of PCI functions; the index is a network's number

    @property
    def clients(self) -> list[Vm]:
        """The VMs that use the fabric; their index is their number there."""
        return [vm for vm in self.vms if vm.accelerators]

    @property
    def has_functions(self) -> bool:
        """Whether a VM has PCI functions."""
        return any(vm.functions for vm in self.vms)

    @property
    def units(self) -> list[tuple[Vm, PciFunction]]:
        """The functions with a unit of the fabric; their numbers there follow those of the `clients`."""
        return [(vm, one) for vm in self.vms for one in vm.functions if one.unit]

    @property
    def sharers(self) -> list[Vm]:
        """The VMs that use shared devices; their index is their number there."""
        return [vm for vm in self.vms if vm.shared_devices]

    @property
    def disks(self) -> list[PciFunction]:
        """The disks of all VMs, which have memory of their own."""
        return [function for vm in self.vms for function in vm.functions if function.disk_size and not function.server]

    @property
    def ram_end(self) -> int:
        """The end of the RAM for VMs (first address after it); the trace memory of all harts
        follows."""
        return self.board.ram_end - align_up((self.harts or 0) * self.trace_kib * 1024, self.board.machine.ram_align)
