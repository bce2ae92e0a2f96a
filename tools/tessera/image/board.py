# SPDX-License-Identifier: Apache-2.0
"""Reads a board's file."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from tessera.fabric.bitstream import KEY_SIZE
from tessera.image.accel import accel_image
from tessera.image.board_schema import BOARD
from tessera.image.model import Board, BoardDevice, Fabric, PciBus, SharedDevices
from tessera.image.nodes import NAME_PATTERN
from tessera.image.problems import BuildError, Problems
from tessera.image.prop_types import size_text, suggest
from tessera.image.schema import LONGEST_BOARD
from tessera.image.shared import shared_image
from tessera.image.source import Source
from tessera.image.validate import Read, read
from tessera.image.virtual import MACHINES, RISCV, Machine

KEY_FILE = "bitstream_key.c"
BLOCKS = {"fabric": accel_image.FABRIC_SIZE, "shared-devices": shared_image.SIZE}  # nodes, and bytes of their registers


def load_board(name: str, platform_dir: Path, system: Read) -> Board | None:
    """Returns the board that `system` names. Without such a board: adds a problem to `system` and
    returns None."""
    path = platform_dir / name / "board.dts"
    if not path.is_file():
        known = sorted(entry.parent.name for entry in platform_dir.glob("*/board.dts"))
        got = f'got "{name}"{suggest(name, known)}'
        system.problem(
            "board", f"expected a folder of {platform_dir.name}/ with a board.dts ({', '.join(known)}), {got}"
        )
        return None
    return read_board(path)


def with_ram(system: Read, board: Board) -> Board:
    """Returns the board with the RAM that the system asks for; reports a system that cannot have it."""
    size = system["ram-size"]
    if size is None:
        return board
    if board.qemu_machine is None:
        system.problem("ram-size", f"expected only on a board that QEMU emulates, got it on {board.name}")
    elif size < board.ram_size:
        expected = f"expected at least {board.name}'s {size_text(board.ram_size)}"
        system.problem("ram-size", f"{expected}, got {size_text(size)}")
    return replace(board, ram_size=size)


def machine_of(path: Path, platform_dir: Path) -> Machine:
    """Returns the machine that guests of the system in the file `path` see.

    RISC-V's if the board cannot be determined: load_system() reports the error later.
    """
    board = Source(str(path)).root.props.get("board")
    name = bytes(board.value).rstrip(b"\0").decode("ascii", "replace") if board else ""
    file = platform_dir / name / "board.dts"
    if len(name) > LONGEST_BOARD or not re.fullmatch(NAME_PATTERN, name) or not file.is_file():
        return RISCV
    return MACHINES.get(read(Source(str(file)), BOARD, Problems())["architecture"], RISCV)


def read_board(path: Path) -> Board:
    """Reads a board's file. Raises BuildError with the problems of that file, apart from those of
    the system's file."""
    problems = Problems()
    node = read(Source(str(path)), BOARD, problems)
    problems.raise_if_any()
    _check(node)
    problems.raise_if_any()
    return Board(
        name=path.parent.name,
        machine=MACHINES[node["architecture"]],
        harts=node["harts"],
        max_vms=node["max-vms"],
        max_vcpus=node["max-vcpus"],
        max_rt_apps=node["max-rt-apps"],
        ram_base=node["ram-base"],
        ram_size=node["ram-size"],
        dma_alias=node["dma-alias"],
        load_address=node["load-address"],
        rt_release_ns=node["rt-release-ns"] or 0,
        rt_switch_ns=node["rt-switch-ns"] or 0,
        rt_blocked_ns=node["rt-blocked-ns"] or (0,) * _numbers_of_harts(node),
        rt_blocked_functions_ns=(
            node["rt-blocked-functions-ns"] or node["rt-blocked-ns"] or (0,) * _numbers_of_harts(node)
        ),
        rt_lock_ns=node["rt-lock-ns"],
        rt_notify_ns=node["rt-notify-ns"],
        rt_ipi_ns=node["rt-ipi-ns"],
        rt_firmware_ns=node["rt-firmware-ns"],
        timebase_hz=node["timebase-hz"],
        rom_size=node["rom-size"],
        isa_base=node["isa-base"],
        isa_extensions=node["isa-extensions"],
        cbo_block_size=node["cbo-block-size"],
        iasim_board=node["iasim-board"],
        spike_isa=node["spike-isa"],
        soc_simulation=node["soc-simulation"],
        qemu_machine=node["qemu-machine"],
        qemu_arguments=node["qemu-arguments"],
        devices={device.name: device for device in map(_device, _device_nodes(node))},
        fabric=_fabric(node.children["fabric"], path.parent) if "fabric" in node.children else None,
        shared_devices=_shared(node.children["shared-devices"]) if "shared-devices" in node.children else None,
        pci=_pci(node.children["pci"]) if "pci" in node.children else None,
    )


def _device_nodes(node: Read) -> list[Read]:
    return list(node.children["devices"].children.values()) if "devices" in node.children else []


def _device(node: Read) -> BoardDevice:
    return BoardDevice(
        name=node.name,
        compatible=node["compatible"],
        node_name=node["node-name"],
        base=node["base"],
        size=node["size"],
        interrupt=node["interrupt"],
        bank_width=node["bank-width"],
        reset=node["reset-register"],
        qemu_bus=node["qemu-bus"],
    )


def _pci(node: Read) -> PciBus:
    return PciBus(
        configuration=node["configuration"],
        memory=node["memory"],
        interrupt=node["interrupt"],
        qemu_bus=node["qemu-bus"],
    )


def _fabric(node: Read, folder: Path) -> Fabric:
    return Fabric(
        base=node["base"],
        interrupt=node["interrupt"],
        vm_interrupt=node["vm-interrupt"],
        vms=node["vms"],
        devices=node["devices"],
        size_classes=node["size-classes"],
        frames=tuple((block,) for block in _ranges(node)),
        frames_file=node["frames-file"],
        idcode=node["idcode"],
        key=read_key(folder),
        clock_hz=node["clock-hz"],
        interrupt_cycles=node["interrupt-cycles"],
    )


def _shared(node: Read) -> SharedDevices:
    return SharedDevices(
        base=node["base"],
        interrupt=node["interrupt"],
        vm_interrupt=node["vm-interrupt"],
        vms=node["vms"],
        devices=node["devices"],
        flash_sectors=node["flash-sectors"],
        pins=node["pins"],
        screen_width=node["screen-width"],
        burst_cycles=node["burst-cycles"],
        clock_hz=node["clock-hz"],
    )


def read_key(folder: Path) -> bytes:
    """Returns the key of bitstreams' tags from the source that the board's hypervisor is compiled with. Raises
    BuildError."""
    path = folder / KEY_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"{path}: expected the key of bitstreams' tags: {error}") from None
    key = re.findall(r"\b0x([0-9a-f]{2})\b", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), flags=re.IGNORECASE)
    if len(key) != KEY_SIZE:
        raise BuildError(f"{path}: expected a key of {KEY_SIZE} bytes, written 0x00 to 0xff, got {len(key)}")
    return bytes.fromhex("".join(key))


def _check(node: Read) -> None:
    end = node["ram-base"] + node["ram-size"]
    if not node["rom-size"] and not node["ram-base"] <= node["load-address"] < end:
        node.problem("load-address", f"expected an address inside the RAM, got {node['load-address']:#x}")
    _check_isa(node)
    if node["max-rt-apps"]:
        _check_costs(node)
    if 0 < node["dma-alias"] < node["ram-size"]:
        node.problem(
            "dma-alias", f"expected addresses behind the RAM of {node['ram-size']:#x}, got {node['dma-alias']:#x}"
        )
    devices = _device_nodes(node)
    _check_devices(devices)
    _check_blocks(node, devices)


def _check_devices(devices: list[Read]) -> None:
    """Reports devices with registers or an interrupt of another one."""
    for index, device in enumerate(devices):
        for other in devices[:index]:
            if device["interrupt"] and device["interrupt"] == other["interrupt"]:
                device.problem("interrupt", f"expected a source that no other device has, got that of {other.path}")
            if device["base"] < other["base"] + other["size"] and other["base"] < device["base"] + device["size"]:
                device.problem("base", f"expected registers that no other device has, got some of {other.path}")


def _check_blocks(board: Read, devices: list[Read]) -> None:
    blocks = [board.children[name] for name in BLOCKS if name in board.children]
    for index, block in enumerate(blocks):
        _check_block(board, block, devices, blocks[:index])
        if block.name == "fabric":
            _check_fabric(block)
        else:
            _check_shared(block)


def _check_block(board: Read, node: Read, devices: list[Read], others: list[Read]) -> None:
    """Checks registers and interrupts of the fabric, or of the shared devices."""
    if not MACHINES[board["architecture"]].has_plic:
        got = f"got it on {board['architecture']}"
        node.problem("", f"expected only on a board whose guests have a PLIC, {got}")
    end = node["base"] + BLOCKS[node.name]
    if node["base"] < board["ram-base"] + board["ram-size"] and board["ram-base"] < end:
        node.problem("base", "expected registers of its own, got some of the RAM")
    taken = [(device, device["size"]) for device in devices] + [(other, BLOCKS[other.name]) for other in others]
    for owner, size in taken:
        if owner["base"] < end and node["base"] < owner["base"] + size:
            node.problem("base", f"expected registers of its own, got some of {owner.path}")
    _check_sources(node, devices, others)


def _check_fabric(node: Read) -> None:
    if len(node["size-classes"]) > accel_image.MAX_REGIONS:
        node.problem(
            "size-classes", f"expected at most {accel_image.MAX_REGIONS} regions, got {len(node['size-classes'])}"
        )
    _check_frames(node)


def _check_shared(node: Read) -> None:
    devices = node["devices"]
    needed = [("flash-sectors", "flash"), ("pins", "gpio"), ("screen-width", "display")]
    needed += [("burst-cycles", device) for device in devices if device in shared_image.DMA_CLIENTS]
    for prop, device in needed:
        if device in devices and not node[prop]:
            node.problem(prop, f"missing; expected it with {device} in devices")
    if "spi" in devices and "flash" not in devices:
        node.problem("devices", "expected spi only together with flash")


def _ranges(node: Read) -> tuple[tuple[int, int], ...]:
    """Returns the first frame of each region, and the number of its frames."""
    numbers = node["frames"] or ()
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def _check_frames(node: Read) -> None:
    """Reports ranges of frames that are not one for each region, or that overlap; with a file of frames, there are
    none."""
    if bool(node["frames-file"]) != bool(node["idcode"]):
        node.problem("frames-file", "expected together with idcode")
    if node["frames-file"] and not node["frames"]:
        return
    regions, numbers = len(node["size-classes"]), node["frames"] or ()
    if node["frames-file"]:
        node.problem("frames", "expected only without frames-file")
    if len(numbers) != 2 * regions:
        node.problem("frames", f"expected two numbers for each of {regions} regions, got {len(numbers)}")
        return
    for (first, count), (following, _) in pairwise(sorted(_ranges(node))):
        if following < first + max(count, 1):
            node.problem("frames", f"expected frames that no other region has, got {following:#x} twice")


def _sources(node: Read) -> list[int]:
    return [node["interrupt"], *range(node["vm-interrupt"], node["vm-interrupt"] + node["vms"])]


def _check_sources(node: Read, devices: list[Read], others: list[Read]) -> None:
    sources = _sources(node)
    if sources[-1] > 31:
        node.problem("vm-interrupt", f"expected sources up to 31 for {node['vms']} VMs, got {sources[-1]}")
    if sources[0] in sources[1:]:
        node.problem("interrupt", f"expected a source of its own, got that of VM {sources[0] - sources[1]}")
    for device in devices:
        if device["interrupt"] in sources:
            node.problem("interrupt", f"expected sources of its own, got {device['interrupt']} of {device.path}")
    for other in others:
        for source in sorted(set(sources).intersection(_sources(other))):
            node.problem("interrupt", f"expected sources of its own, got {source} of {other.path}")


def _numbers_of_harts(node: Read) -> int:
    """Returns how many numbers rt-blocked-ns and rt-blocked-functions-ns have: for 1 hart, 2, up to 4, up to 8, as
    far as the board has them."""
    return int(node["harts"] - 1).bit_length() + 1


def _check_costs(node: Read) -> None:
    """Reports missing costs of RT apps, and sections with fewer numbers than the board's numbers of harts need."""
    for prop in ("rt-release-ns", "rt-switch-ns", "rt-blocked-ns"):
        if node[prop] is None:
            node.problem(prop, "missing; expected it unless max-rt-apps is 0")
    if node["harts"] > 1 and node["rt-blocked-functions-ns"] is None:
        node.problem("rt-blocked-functions-ns", "missing; expected it on several harts unless max-rt-apps is 0")
    needed = _numbers_of_harts(node)
    for prop in ("rt-blocked-ns", "rt-blocked-functions-ns"):
        if node[prop] is not None and len(node[prop]) < needed:
            expected = f"expected {needed} numbers, for 1, 2, 4 ... {node['harts']} harts"
            node.problem(prop, f"{expected}, got {len(node[prop])}")


def _check_isa(node: Read) -> None:
    missing = [prop for prop in ("isa-base", "isa-extensions") if not node[prop]]
    for prop in missing if node["architecture"] == "riscv" else []:
        node.problem(prop, "missing; expected it for RISC-V")
