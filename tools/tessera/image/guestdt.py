# SPDX-License-Identifier: Apache-2.0
"""Writes the guest's device tree: a small QEMU "virt" machine, as docs/virtual-platform.md
specifies."""

from tessera.image import components, dts, layout, loads, memory, virtual
from tessera.image.component import Tree
from tessera.image.emulated import FINISHER, Emulated
from tessera.image.fixups import SEED
from tessera.image.model import Board, BoardDevice, Shared, System, Vm
from tessera.image.vm_schema import GUEST_FEATURES

# What Linux writes to the finisher.
FINISHER_OFF = 0x5555
FINISHER_RESET = 0x7777


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
    trees = components.trees_of(system, vm)
    body = [
        "#address-cells = <2>;",
        "#size-cells = <2>;",
        *_compatible(vm),
        "",
        *_chosen(vm, trees),
        "",
        *_memory(vm),
        *_cpus(system.board, vm),
    ]
    if vm.node["message-interrupt"]:
        body += ["", *_messages(vm)]
    for part in (memory.reserved_memory(vm), _soc(vm), _fabric(trees), *(node for tree in trees for node in tree.root)):
        body += ["", *part] if part else []
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


def _chosen(vm: Vm, trees: list[Tree]) -> list[str]:
    body = []
    if vm.node["bootargs"]:
        body.append(f"bootargs = {dts.string(vm.node['bootargs'])};")
    if vm.has_uart:
        body.append(f'stdout-path = "/soc/serial@{vm.machine.uart_base:x}";')
    body += loads.chosen(vm)
    if vm.machine.architecture == "riscv":
        body.append(f"{SEED} = [{'00' * layout.SEED_SIZE}];  // the hypervisor writes another at each start")
    body += [line for tree in trees for line in tree.chosen]
    nodes = [line for tree in trees for node in tree.in_chosen for line in ("", *node)]
    if nodes:
        body += ["#address-cells = <2>;", "#size-cells = <2>;", "ranges;", *nodes]
    return dts.node("chosen", body)


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
    return ", ".join(
        dts.cells(*(cell for number in piece for cell in dts.wide(number))) for piece in memory.for_dma(vm)
    )


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


def _fabric(trees: list[Tree]) -> list[str]:
    """Returns the bus of the fabric's devices, nothing without one. It is not a part of /soc, whose dma-ranges would
    make a driver translate: DMA addresses of these devices are guest-physical."""
    nodes = [line for tree in trees for node in tree.fabric for line in ("", *node)]
    if not nodes:
        return []
    body = ["#address-cells = <2>;", "#size-cells = <2>;", 'compatible = "simple-bus";', "ranges;"]
    return dts.node("fabric", body + nodes)


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
