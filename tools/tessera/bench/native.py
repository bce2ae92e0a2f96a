# SPDX-License-Identifier: Apache-2.0
"""
Counts the instructions of a Linux guest without a hypervisor under the conditions of its VM, so
that the difference is the hypervisor's cost.

A kernel that QEMU starts probes devices that a VM does not have: PCI, flash and eight virtio slots.
These can be removed from the device tree. With a random seed Linux does not gather entropy with its
timer, so both runs must have a seed or both none: the hypervisor writes one if the VM's tree has an
rng-seed; QEMU 7.2 adds one to any tree that it is given, and the kernel uses it before it reads its
command line. Therefore the kernel receives a tree that QEMU does not change: OpenSBI starts three
instructions that replace the pointer to the tree and jump to the kernel. Image and initramfs of the
kernel are those of the VM, byte for byte.
"""

import struct
from pathlib import Path

from tessera.bench.count import Counter
from tessera.bench.machine import BenchError, count_to_power_off, run_tool
from tessera.run.runner import ROOT, BuiltSystem, Qemu, native_command

RAM = 0x80000000
FIRMWARE_SIZE = 0x80000  # the size that OpenSBI reserves in the device tree
START = 0x80200000  # where OpenSBI starts the image of -kernel
KERNEL = 0x80400000
INITRD = 0x84000000
TREE = 0x87000000
_NOT_IN_A_VM = ("pmu", "fw-cfg", "flash", "platform-bus", "pci", "virtio_mmio")
_A1, _T0 = 11, 5


def trampoline() -> bytes:
    """Returns the three instructions at START: a1 = TREE, jump to KERNEL."""

    def auipc(register: int, distance: int) -> int:
        return (distance >> 12 << 12) | register << 7 | 0x17

    # The second auipc is 4 bytes after START, hence the offset of -4.
    jump = (-4 & 0xFFF) << 20 | _T0 << 15 | 0x67
    return struct.pack("<3I", auipc(_A1, TREE - START), auipc(_T0, KERNEL - START), jump)


def _split(number: int) -> list[str]:
    return [f"{number >> 32:#x}", f"{number & 0xFFFFFFFF:#x}"]


def _set(tree: Path, node: str, name: str, *values: str, kind: str = "x") -> None:
    run_tool(["fdtput", "-p", "-t", kind, str(tree), node, name, *values])


def _write_tree(command: list[str], system: BuiltSystem, tree: Path) -> None:
    """Writes QEMU's device tree of this machine, without the devices that no VM has, with the VM's
    boot arguments."""
    vm = system.vms[0]
    at = command.index("-M") + 1
    run_tool([*command[:at], f"{command[at]},dumpdtb={tree}", *command[at + 1 :], "-nic", "none"])
    for parent, prefix in (("/", "/"), ("/soc", "/soc/")):
        nodes = run_tool(["fdtget", "-l", str(tree), parent]).split()
        doomed = [prefix + node for node in nodes if node.split("@")[0] in _NOT_IN_A_VM]
        if doomed:
            run_tool(["fdtput", "-r", str(tree), *doomed])
    _give_seed(tree, system.image.parent / vm["device_tree"])
    _set(tree, "/chosen", "bootargs", vm["bootargs"], kind="s")
    _set(tree, "/chosen", "linux,initrd-start", *_split(INITRD))
    _set(tree, "/chosen", "linux,initrd-end", *_split(INITRD + vm["initrd"]["size"]))
    reserved = f"/reserved-memory/firmware@{RAM:x}"
    _set(tree, reserved, "reg", *_split(RAM), *_split(FIRMWARE_SIZE))
    run_tool(["fdtput", "-t", "x", str(tree), reserved, "no-map"])
    for name in ("#address-cells", "#size-cells"):
        _set(tree, "/reserved-memory", name, "2")
    run_tool(["fdtput", "-t", "x", str(tree), "/reserved-memory", "ranges"])


def _has_seed(tree: Path) -> bool:
    return "rng-seed" in run_tool(["fdtget", "-p", str(tree), "/chosen"]).split()


def _give_seed(tree: Path, vm_tree: Path) -> None:
    """Adds a random seed if the VM's tree has one; its value does not matter."""
    if _has_seed(tree):
        run_tool(["fdtput", "-d", str(tree), "/chosen", "rng-seed"])
    if _has_seed(vm_tree):
        seed = run_tool(["fdtget", "-t", "bx", str(vm_tree), "/chosen", "rng-seed"]).split()
        _set(tree, "/chosen", "rng-seed", *seed, kind="bx")


def _without(command: list[str], *options: str) -> list[str]:
    """Returns the command line without these options and their values."""
    kept = list(command)
    for option in options:
        if option in kept:
            at = kept.index(option)
            del kept[at : at + 2]
    return kept


def count_native(qemu: Qemu, system: BuiltSystem, counter: Counter, out: Path) -> int:
    """Returns the native instructions of the system's only guest, a Linux, from the first one to
    power-off."""
    vm = system.vms[0]
    command = _without(native_command(qemu, system, vm["name"]), "-kernel", "-initrd", "-append")
    tree, start = out.with_suffix(".dtb"), out.with_suffix(".start")
    _write_tree(command, system, tree)
    start.write_bytes(trampoline())
    command += ["-kernel", str(start)]
    for file, address in ((ROOT / vm["image"]["path"], KERNEL), (ROOT / vm["initrd"]["path"], INITRD), (tree, TREE)):
        command += ["-device", f"loader,file={file},addr={address:#x},force-raw=on"]
    count = count_to_power_off(command, counter, KERNEL, vm["sign_of_life"], out)
    if not count.passed:
        raise BenchError(f"the kernel's entry {KERNEL:#x} was never reached natively")
    return count.instructions - count.passed[0]
