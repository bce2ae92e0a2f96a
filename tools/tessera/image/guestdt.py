# SPDX-License-Identifier: Apache-2.0
"""Writes the guest's device tree: a small QEMU "virt" machine, as docs/virtual-platform.md
specifies."""

from tessera.image import dts, layout, loads, memory, virtual
from tessera.image.emulated import FINISHER, Emulated
from tessera.image.fixups import SEED
from tessera.image.model import Board, BoardDevice, Load, Shared, SharedDevices, System, Vm, VmAccelerator
from tessera.image.shared import shared_image
from tessera.image.shared.display import line_bytes
from tessera.image.validate import Read
from tessera.image.vm_schema import GUEST_FEATURES

# What Linux writes to the finisher.
FINISHER_OFF = 0x5555
FINISHER_RESET = 0x7777

# Memory that is not prefetchable, in the first cell of a PCI address.
PCI_MEMORY32 = 0x02000000
PCI_MEMORY64 = 0x03000000


def listed_features(vm: Vm) -> tuple[str, ...]:
    """Returns the optional features that the device tree lists if the machine has them: those that
    `isa` allows."""
    wanted = vm.node["isa"] if vm.node.given("isa") else GUEST_FEATURES
    return tuple(feature for feature in GUEST_FEATURES if feature in wanted)


def _compatible(vm: Vm) -> list[str]:
    if vm.machine.architecture == "mips":
        return ['compatible = "tessera,m5150";', 'model = "tessera,m5150";']
    return ['compatible = "riscv-virtio";', 'model = "riscv-virtio,qemu";']


def guest_dts(system: System, vm: Vm) -> str:
    """Returns the source of the device tree."""
    body = [
        "#address-cells = <2>;",
        "#size-cells = <2>;",
        *_compatible(vm),
        "",
        *_chosen(vm),
        "",
        *_memory(vm),
        *_cpus(system.board, vm),
    ]
    if vm.node["message-interrupt"]:
        body += ["", *_messages(vm)]
    for part in (memory.reserved_memory(vm), _soc(vm)):
        body += ["", *part] if part else []
    if "spi" in vm.described_pages:
        body += ["", *_shared_clock(system.board)]
    if vm.accelerator_pages or vm.described_pages:
        body += ["", *_fabric(system, vm)]
    if vm.functions:
        body += ["", *_pci(vm)]
    if FINISHER in vm.emulated:
        body += ["", *_syscon("poweroff", FINISHER_OFF), "", *_syscon("reboot", FINISHER_RESET)]
    head = f"// Made by the image builder for VM {vm.name} of {system.source.name}; do not edit.\n/dts-v1/;\n\n"
    return head + "\n".join(dts.node("/", body)) + "\n"


def _memory(vm: Vm) -> list[str]:
    """Returns a node for each piece of RAM, each followed by an empty line."""
    body = []
    for base, size in [(vm.memory_base, vm.memory_size), *((one.base, one.size) for one in vm.more)]:
        body += [*dts.node(f"memory@{base:x}", ['device_type = "memory";', f"reg = {dts.reg(base, size)};"]), ""]
    return body


def _chosen(vm: Vm) -> list[str]:
    body = []
    if vm.node["bootargs"]:
        body.append(f"bootargs = {dts.string(vm.node['bootargs'])};")
    if vm.has_uart:
        body.append(f'stdout-path = "/soc/serial@{vm.machine.uart_base:x}";')
    elif "uart" in vm.described_pages:
        body.append(f'stdout-path = "/fabric/serial@{shared_image.address("uart"):x}";')
    body += loads.chosen(vm)
    if vm.machine.architecture == "riscv":
        body.append(f"{SEED} = [{'00' * layout.SEED_SIZE}];  // the hypervisor writes another at each start")
    if vm.functions:
        body.append("linux,pci-probe-only = <1>;  // the guest keeps the addresses of the BARs")
    if vm.framebuffer:
        body += ["#address-cells = <2>;", "#size-cells = <2>;", "ranges;", "", *_framebuffer(vm, vm.framebuffer)]
    return dts.node("chosen", body)


def _framebuffer(vm: Vm, memory: Load) -> list[str]:
    """Returns the node of a framebuffer that is on the screen already."""
    _, _, width, height = vm.shared_devices["display"]["rectangle"]
    body = [
        'compatible = "simple-framebuffer";',
        f"reg = {dts.reg(memory.gpa, memory.span)};",
        f"width = <{width}>;",
        f"height = <{height}>;",
        f"stride = <{line_bytes(width)}>;",
        'format = "x8r8g8b8";',
    ]
    return dts.node(f"framebuffer@{memory.gpa:x}", body)


def _shared_clock(board: Board) -> list[str]:
    """Returns the node of the shared devices' clock, by which drivers set the rates of SPI controllers."""
    body = ['compatible = "fixed-clock";', "#clock-cells = <0>;", f"clock-frequency = <{_hardware(board).clock_hz}>;"]
    return dts.node("shared_clock: shared-clock", body)


def _cpus(board: Board, vm: Vm) -> list[str]:
    listed = listed_features(vm)
    body = ["#address-cells = <1>;", "#size-cells = <0>;", f"timebase-frequency = <{board.timebase_hz}>;"]
    for index in range(vm.vcpus):
        body += ["", *(_mips_cpu(index) if vm.machine.architecture == "mips" else _cpu(board, index, listed))]
    return dts.node("cpus", body)


def _mips_cpu(index: int) -> list[str]:
    body = ['device_type = "cpu";', f"reg = <{index}>;", 'compatible = "mips,m5150";']
    controller = ['compatible = "mti,cpu-interrupt-controller";', "interrupt-controller;"]
    controller += ["#interrupt-cells = <1>;", "#address-cells = <0>;"]
    body += ["", *dts.node(f"cpu{index}_intc: interrupt-controller", controller)]
    return dts.node(f"cpu@{index:x}", body)


def _cpu(board: Board, index: int, listed: tuple[str, ...]) -> list[str]:
    extensions = ", ".join(dts.string(name) for name in (*board.isa_extensions, *listed))
    body = [
        'device_type = "cpu";',
        f"reg = <{index}>;",
        'status = "okay";',
        'compatible = "riscv";',
        f'riscv,isa = "{isa_string(board, listed)}";',
        f'riscv,isa-base = "{board.isa_base}";',
        f"riscv,isa-extensions = {extensions};",
        'mmu-type = "riscv,sv39";',  # every core with the H extension has Sv39; guests probe for larger modes
    ]
    for feature, operation in (("zicbom", "cbom"), ("zicboz", "cboz")):
        if feature in listed:
            body.append(f"riscv,{operation}-block-size = <{board.cbo_block_size}>;")
    controller = ['compatible = "riscv,cpu-intc";', "interrupt-controller;"]
    controller += ["#interrupt-cells = <1>;", "#address-cells = <0>;"]
    body += ["", *dts.node(f"cpu{index}_intc: interrupt-controller", controller)]
    return dts.node(f"cpu@{index:x}", body)


def isa_string(board: Board, listed: tuple[str, ...]) -> str:
    """Returns the value of the deprecated riscv,isa: single letters, then each longer name after an
    underscore."""
    names = (*board.isa_extensions, *listed)
    base = board.isa_base or ""
    letters = "".join(name for name in names if len(name) == 1 and name != base[-1:])
    return base + letters + "".join("_" + name for name in names if len(name) > 1)


def _soc(vm: Vm) -> list[str]:
    nodes: list[list[str]] = []
    nodes += [_emulated(one, irq) for one, irq in vm.emulated.items()]
    if vm.has_uart:
        nodes.append(_uart(vm))
    nodes += [_device(device) for device in vm.devices]
    nodes += [_shared(region) for region in vm.shared]
    if vm.has_plic:
        nodes.append(_plic(vm))
    if not nodes:
        return []
    body = ["#address-cells = <2>;", "#size-cells = <2>;", 'compatible = "simple-bus";', "ranges;"]
    if vm.devices:
        body.append(f"dma-ranges = {_dma_ranges(vm)};")
    for node in nodes:
        body += ["", *node]
    return dts.node("soc", body)


def _dma_ranges(vm: Vm) -> str:
    """DMA of a passed-through device uses host-physical addresses; the guest's drivers translate with this."""
    pieces = [(vm.host_base, vm.memory_base, vm.memory_size)]
    pieces += [(one.host_base, one.base, one.size) for one in vm.more]
    return ", ".join(dts.cells(*(cell for number in piece for cell in dts.wide(number))) for piece in pieces)


def _uart(vm: Vm) -> list[str]:
    body = [
        'compatible = "ns16550a";',
        f"reg = {dts.reg(vm.machine.uart_base, virtual.UART_REGISTERS)};",
        f"clock-frequency = <{virtual.UART_CLOCK_HZ}>;",
    ]
    if vm.has_plic and not vm.node["uart-polled"]:
        body += ["interrupt-parent = <&plic>;", f"interrupts = <{vm.machine.uart_irq}>;"]
    elif not vm.machine.has_plic and not vm.node["uart-polled"]:
        body += ["interrupt-parent = <&cpu0_intc>;", f"interrupts = <{vm.machine.uart_irq}>;"]
    return dts.node(f"serial@{vm.machine.uart_base:x}", body)


def _emulated(one: Emulated, irq: int) -> list[str]:
    body = [f"compatible = {', '.join(map(dts.string, one.compatible))};", f"reg = {dts.reg(one.base, one.size)};"]
    if irq:
        body += ["interrupt-parent = <&plic>;", f"interrupts = <{irq}>;"]
    return dts.node(f"{one.node}@{one.base:x}", body)


def _syscon(name: str, value: int) -> list[str]:
    """Returns the node with the value that Linux writes to the finisher to power off or to
    reboot."""
    body = [f'compatible = "syscon-{name}";', "regmap = <&finisher>;", "offset = <0>;", f"value = <{value:#x}>;"]
    return dts.node(name, body)


def _device(device: BoardDevice) -> list[str]:
    body = [
        f"compatible = {dts.string(device.compatible)};",
        f"reg = {dts.reg(device.base, device.size)};",
    ]
    if device.interrupt:
        body += ["interrupt-parent = <&plic>;", f"interrupts = <{device.interrupt}>;"]
    if device.bank_width:
        body.append(f"bank-width = <{device.bank_width}>;")
    return dts.node(f"{device.node_name}@{device.base:x}", body)


def _shared(region: Shared) -> list[str]:
    body = [
        'compatible = "tessera,shared";',
        f"reg = {dts.reg(region.base, region.size)};",
        f"label = {dts.string(region.name)};",
        f"tessera,region = <{region.id}>;",
    ]
    return dts.node(f"shared@{region.base:x}", body)


def _fabric(system: System, vm: Vm) -> list[str]:
    """Returns the bus of the fabric's devices and of the shared ones. It is not a part of /soc, whose dma-ranges would
    make a driver translate: DMA addresses of these devices are guest-physical."""
    body = ["#address-cells = <2>;", "#size-cells = <2>;", 'compatible = "simple-bus";', "ranges;"]
    for use in vm.accelerator_pages:
        body += ["", *_accelerator(use)]
    for name in vm.described_pages:
        body += ["", *_shared_device(system, name, vm.shared_devices[name])]
    return dts.node("fabric", body)


def _accelerator(use: VmAccelerator) -> list[str]:
    device = use.device
    body = [
        'compatible = "tessera,accelerator";',
        f"reg = {dts.reg(device.address, virtual.ACCEL_SIZE)};",
        "interrupt-parent = <&plic>;",
        f"interrupts = <{virtual.ACCEL_IRQ}>, <{virtual.ACCEL_EVENT_IRQ}>;",
        f"tessera,task = <{device.node['task']}>;",
        f"label = {dts.string(device.name)};",
    ]
    if use.node["overlay"]:
        body.append('status = "disabled";  // the hypervisor writes "okay" at a start while the overlay is applied')
    return dts.node(f"accelerator@{device.address:x}", body)


def _hardware(board: Board) -> SharedDevices:
    assert board.shared_devices is not None, "load_shared_devices() refuses shared devices that the board lacks"
    return board.shared_devices


def _shared_device(system: System, name: str, use: Read) -> list[str]:
    """Returns the node of a shared device, with a page in `reg` for each of its numbers."""
    pages = (virtual.SHARED_BASE + number * virtual.SHARED_PAGE for number in shared_image.DEVICES[name])
    body = [
        f"reg = {', '.join(dts.reg(page, virtual.SHARED_PAGE) for page in pages)};",
        "interrupt-parent = <&plic>;",
        f"interrupts = <{virtual.SHARED_IRQ}>;",
    ]
    devices = system.node.children["shared-devices"].children
    if name == "uart":
        return dts.node(f"serial@{shared_image.address(name):x}", [*body, *_shared_uart(devices[name])])
    if name == "spi":
        return dts.node(f"spi@{shared_image.address(name):x}", [*body, *_spi(use, devices["flash"])])
    body = [
        f'compatible = "tessera,shared-{name}";',
        *body,
        f"clock-frequency = <{_hardware(system.board).clock_hz}>;",  # of the time base
    ]
    if name == "flash":
        body.append(f"tessera,window-sectors = <{use['window'][1]}>;")
    elif name == "ethernet":
        body.append(f"local-mac-address = [{use['mac'].hex(' ')}];")
    elif name == "display":
        body.append(f"tessera,rectangle = <{' '.join(map(str, use['rectangle']))}>;")
    elif name == "gpio":
        body.append(f"tessera,pins = <{' '.join(map(str, use['pins']))}>;")
    return dts.node(f"{name}@{shared_image.address(name):x}", body)


def _shared_uart(device: Read) -> list[str]:
    return [
        'compatible = "tessera,shared-uart", "ns16550a";',
        "reg-shift = <2>;",
        "reg-io-width = <4>;",
        f"clock-frequency = <{virtual.UART_CLOCK_HZ}>;",  # any: the hardware ignores the divisor
        f"current-speed = <{device['baud']}>;",
    ]


def _spi(use: Read, flash: Read) -> list[str]:
    """Returns the controller's own properties, and the chip with the VM's window as its only partition: the chip has
    the identification of the whole flash."""
    partition = ['label = "window";', f"reg = {dts.cells(0, use['window'][1] * shared_image.SECTOR)};"]
    partitions = ['compatible = "fixed-partitions";', "#address-cells = <1>;", "#size-cells = <1>;"]
    partitions += ["", *dts.node("partition@0", partition)]
    chip = ['compatible = "jedec,spi-nor";', "reg = <0>;", f"spi-max-frequency = <{flash['sck-hz']}>;"]
    chip += ["", *dts.node("partitions", partitions)]
    body = ['compatible = "sifive,spi0";', "clocks = <&shared_clock>;", "#address-cells = <1>;", "#size-cells = <0>;"]
    return [*body, "", *dts.node("flash@0", chip)]


def _pci(vm: Vm) -> list[str]:
    """Returns the host bridge of the VM's virtual PCI bus. It is not a part of /soc, as _fabric()."""
    # A function's address on the bus, its pin INTA, and its source.
    routes = [f"<{f.slot << 11:#x} 0 0 1 &plic {f.irq}>" for f in vm.functions]
    body = [
        'compatible = "pci-host-ecam-generic";',
        'device_type = "pci";',
        f"reg = {dts.reg(virtual.PCI_ECAM, virtual.PCI_ECAM_SIZE)};",
        "bus-range = <0 0>;",
        "#address-cells = <3>;",
        "#size-cells = <2>;",
        f"ranges = {', '.join(_pci_range(base, size) for base, size in vm.pci_windows)};",
        "#interrupt-cells = <1>;",
        "interrupt-map-mask = <0xf800 0 0 7>;",
        f"interrupt-map = {', '.join(routes)};",
        "dma-coherent;",
    ]
    if vm.host_functions:
        body.append(f"dma-ranges = {_pci_dma_ranges(vm)};")
    return dts.node(f"pci@{virtual.PCI_ECAM:x}", body)


def _pci_dma_ranges(vm: Vm) -> str:
    """As _dma_ranges(), for functions of the machine. Drivers do not translate for virtio functions of the hypervisor,
    which do not offer VIRTIO_F_ACCESS_PLATFORM."""
    pieces = [(vm.host_base, vm.memory_base, vm.memory_size)]
    pieces += [(one.host_base, one.base, one.size) for one in vm.more]
    return ", ".join(
        dts.cells(PCI_MEMORY64, *(cell for number in piece for cell in dts.wide(number))) for piece in pieces
    )


def _pci_range(base: int, size: int) -> str:
    """Returns a range of memory with the same addresses on the bus as for the CPU."""
    space = PCI_MEMORY32 if base + size <= 1 << 32 else PCI_MEMORY64
    return dts.cells(space, *dts.wide(base), *dts.wide(base), *dts.wide(size))


def _messages(vm: Vm) -> list[str]:
    body = [
        'compatible = "tessera,messages";',
        "interrupt-parent = <&plic>;",
        f"interrupts = <{vm.node['message-interrupt']}>;",
    ]
    return dts.node("messages", body)


def _plic(vm: Vm) -> list[str]:
    # Contexts as on virt: each hart has one for M-mode, which a guest does not have (0xffffffff),
    # and one for S-mode.
    contexts = ", ".join(f"<&cpu{index}_intc 0xffffffff>, <&cpu{index}_intc 9>" for index in range(vm.vcpus))
    body = [
        'compatible = "sifive,plic-1.0.0", "riscv,plic0";',
        f"reg = {dts.reg(virtual.PLIC_BASE, virtual.PLIC_SIZE)};",
        "interrupt-controller;",
        "#interrupt-cells = <1>;",
        "#address-cells = <0>;",
        f"riscv,ndev = <{virtual.PLIC_SOURCES}>;",
        f"interrupts-extended = {contexts};",
    ]
    return dts.node(f"plic: plic@{virtual.PLIC_BASE:x}", body)
