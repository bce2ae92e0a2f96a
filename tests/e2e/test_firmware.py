# SPDX-License-Identifier: Apache-2.0
"""
The project's M-mode firmware (arch/riscv/firmware, docs/porting.md), on QEMU: it boots systems on one and two
harts, also without Sstc and time CSR as CVA6's; it protects itself and the CLINT; and its frequent paths are short.
"""

import re
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import (
    BOOT_S,
    NEWER_QEMU,
    OUT,
    SOON_S,
    VIRTUAL,
    BuiltSystem,
    assert_well,
    booted,
    built,
    built_with_harts,
    command,
    firmware,
    keyboard,
    make,
    run,
    wait_for_signs_of_life,
)

from tessera.bench import passes
from tessera.image.elf import Elf
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import (
    BASE_CPU,
    OWN_FIRMWARE,
    Qemu,
    RunError,
    find_qemu,
    firmware_arguments,
    firmware_warning,
    native_command,
)

NO_SSTC = "sstc=false"
SHORT = "quantum-us = <100>;"  # for fewer instructions
# Instructions of each path in the firmware; docs/porting.md has the measured numbers.
BOUNDS = {"set_timer": 29, "rdtime": 34, "timer": 19}


@pytest.mark.parametrize(("harts", "hide", "cpu"), [(1, "", None), (2, "time", NO_SSTC)])
def test_two_vms_boot(harts: int, hide: str, cpu: str | None) -> None:
    """FreeRTOS also probes stimecmp: without Sstc, the illegal instruction is its own."""
    system = built_with_harts("hello", harts)
    label = f"firmware-{harts}-{hide or 'all'}"
    with booted(system, label, "-bios", str(firmware(hide)), cpu=cpu) as machine:
        banner = machine.expect(HYPERVISOR, r"^Tessera on qemu-virt: system hello, 2 VMs on (\d) harts.*\n", BOOT_S)
        assert int(banner[1]) == harts
        assert ("Sstc" in banner[0]) == (hide == "")
        wait_for_signs_of_life(machine, system)
        assert_well(machine)
        assert "error" not in machine.console.text("")


@pytest.mark.parametrize("hide", ["", "mtime"])
def test_only_the_page_of_mtime_can_be_used(hide: str) -> None:
    """A guest that runs natively, in the hypervisor's place, finds RAM and CLINT protected; mtime as the build says. A
    store to the page is allowed for CVA6, which checks the load of mtime by the type of the access behind it."""
    system = built("trio")
    command = [*native_command(find_qemu(), system, "first"), "-bios", str(firmware(hide))]
    with Machine(command, ["first"], OUT / f"firmware-native{hide}.log") as machine:
        machine.expect("first", r"^misbehave: alive 1$", BOOT_S)
        deeds = [("read", 0x2004000, 5), ("read", 0x2000000, 5), ("read", 0x80000000, 5), ("read", 0x8000FFF8, 5)]
        deeds += [("write", 0x2004000, 7), ("write", 0x2000000, 7), ("write", 0x80000000, 7), ("jump", 0x80000000, 1)]
        deeds += [("jump", 0x200B000, 1)]
        deeds += [("read", 0x200BFF8, 5), ("write", 0x200B000, 7)] if hide else []
        for deed, address, cause in deeds:
            machine.send(f"{deed} {address:x}\r")
            machine.expect("first", rf"^misbehave: caught exception {cause} stval 0x{address:x} ", SOON_S)
        if not hide:
            machine.send("write 200b000\r")  # no register of the CLINT
            machine.expect("first", r"^misbehave: write went through, carrying on$", SOON_S)
            machine.send("peek 200bff8\r")
            machine.expect("first", r"^misbehave: word at 0x200bff8 is 0x[0-9a-f]+$", SOON_S)
        machine.send("peek 80010000\r")
        machine.expect("first", r"^misbehave: word at 0x80010000 is ", SOON_S)


def test_a_hart_starts_again() -> None:
    """The guest `first` of trio, natively on two harts: hart_start, an IPI, and hart_stop at the function's end."""
    system = built("trio")
    command = [*native_command(find_qemu(), system, "first"), "-smp", "2", "-bios", str(firmware())]
    with Machine(command, ["first"], OUT / "firmware-smp.log") as machine:
        machine.expect("first", r"^misbehave: alive 1$", BOOT_S)
        for _ in range(2):
            machine.send("smp\r")
            while machine.expect("first", r"^misbehave: hart 1 (alive|did not start: error -6)$", SOON_S)[1] != "alive":
                machine.send("smp\r")  # the hart was still on its way to hart_stop


@pytest.mark.parametrize("program", [NEWER_QEMU, pytest.param(None, marks=pytest.mark.long)], ids=["newer", "qemu"])
def test_calls_of_a_kernel_match_those_in_a_vm(program: str | None) -> None:
    """HSM, IPI, RFENCE, DBCN, SRST and errors (tests/guests/regression/harts.c): natively under this firmware, and in a
    VM on it."""
    system, bios, said = built_with_harts("virt", 2), ("-bios", str(firmware())), {}
    native = [*native_command(find_qemu(program), system, "harts"), *bios]
    with (
        Machine(native, ["harts"], OUT / "firmware-harts-native.log") as alone,
        booted(system, "firmware-harts", *bios, qemu=program) as machine,
    ):
        machine.expect(HYPERVISOR, "^Tessera on", BOOT_S)
        keyboard(machine, "harts")
        command(machine, "g")
        for label, each in {"native": alone, "vm": machine}.items():
            each.expect("harts", r"^regression: harts done$", SOON_S)
            said[label] = re.findall(r"^regression: .*$", each.console.finished("harts"), re.MULTILINE)
            each.expect("harts", r"^regression: harts done$", SOON_S)  # after its reset
    last = said["native"].index("regression: harts done")
    assert said["native"][: last + 1] == [
        "regression: hart 1: 1, started 0 (again: -6), starts 2",
        "regression: hart 9: start -3, status -3",
        "regression: 40 interrupts, to hart 9: -3",
        "regression: 40 remote fences, 0 failed, 0 stale, unknown one: -2",
        "regression: fences in both directions: done",
        "regression: printed by the firmware",
        "regression: from no memory: -3",
        "regression: unknown extension: -2",
        "regression: harts done",
    ]
    assert said["vm"][: last + 1] == said["native"][: last + 1]


def test_a_hart_that_is_missing(tmp_path: Path) -> None:
    """The device tree says that it is there."""
    system, tree = built_with_harts("hello", 2), tmp_path / "two-harts.dtb"
    with booted(system, "firmware-tree", "-machine", f"dumpdtb={tree}") as machine:
        assert machine.status() == 0
    arguments = ("-smp", "1", "-dtb", str(tree), "-bios", str(firmware()))
    with booted(system, "firmware-missing", *arguments) as machine:
        machine.expect(HYPERVISOR, r"^error: hart 1 of 2 does not start", BOOT_S)
        assert machine.status() == 1


SEIP = 1 << 9
MIP = re.compile(r"\bli\t(\w+),(\d+)|\bcsr(\w)\tmip,(\w+)|\bcsr\w+\t\w+,(mip),")


def test_no_write_of_mip_leaves_the_external_interrupt() -> None:
    """Spike, which is not run here, writes the PLIC's SEIP back with a read-modify-write of mip."""
    elf = str(firmware().with_suffix(".elf"))
    code = run(["riscv64-unknown-elf-objdump", "-d", elf]).stdout
    loaded: dict[str, int] = {}
    left, writes = False, 0
    for register, value, operation, source, other in MIP.findall(code):
        assert not other and operation in {"", "s", "c"}, "not csrs or csrc: extend this test"
        if register:
            loaded[register] = int(value)
            continue
        writes += 1
        assert not left or operation == "c", code
        left = operation == "s" or not loaded[source] & SEIP
        assert operation == "s" or not left, "csrc writes SEIP back"
    assert writes >= 5 and not left


def events(system: BuiltSystem, label: str, image: Path, places: tuple[str, ...]) -> list[passes.Event]:
    """The passes of symbols of the firmware until all VMs have given their signs of life."""
    elf = Elf(image.with_suffix(".elf").read_bytes())
    names = {elf.symbol(place): place for place in places}
    out, qemu, no_device = OUT / f"{label}.txt", find_qemu(cpu_flags=NO_SSTC), passes.Device(0, 0)
    plugin = passes.arguments(qemu, OUT, elf.symbol("_start"), names, no_device, out)
    with booted(system, label, "-bios", str(image), *VIRTUAL, *plugin, cpu=NO_SSTC) as machine:
        wait_for_signs_of_life(machine, system)
    return passes.read_passes(out, names, no_device)


def test_instructions_of_the_frequent_paths() -> None:
    """From the trap to the return to the other mode, which `mret` counts for."""
    kinds = {"trap_set_timer": "set_timer", "trap_rdtime": "rdtime", "trap_timer": "timer"}
    record = events(
        built_with_harts("switch", 1, SHORT), "firmware-paths", firmware("time"), ("fw_trap_entry", *kinds, "trap_mret")
    )
    lengths: dict[str, set[int]] = defaultdict(set)
    for (entry, kind), after in zip(pairwise(record), record[2:], strict=False):
        if entry.what == "fw_trap_entry" and kind.what in kinds and after.what == "trap_mret":
            lengths[kinds[kind.what]].add(after.executed - entry.executed + 1)
    print({kind: sorted(found) for kind, found in lengths.items()})
    assert lengths.keys() == BOUNDS.keys()
    for kind, bound in BOUNDS.items():
        assert max(lengths[kind]) <= bound, (kind, lengths[kind])


def test_choice_of_the_firmware(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """OpenSBI is the default of an old QEMU only, where no guest escapes under it."""
    monkeypatch.delenv("FIRMWARE", raising=False)
    make("image-parts", "IMAGE_FILES=")
    old, new = (Qemu("qemu", version, BASE_CPU) for version in ((9, 2), (10, 0)))
    assert firmware_arguments(old) == [] and firmware_arguments(new) == ["-bios", str(OWN_FIRMWARE)]
    assert firmware_warning(old) is None and firmware_warning(new) is None
    monkeypatch.setenv("FIRMWARE", "opensbi")
    assert firmware_arguments(old) == firmware_arguments(new) == []
    assert firmware_warning(old) is None and "with the rights of the hypervisor" in str(firmware_warning(new))
    (tmp_path / "fw_dynamic.bin").write_bytes(b"\0\x13OpenSBI v%d.%d\0")
    monkeypatch.setenv("FIRMWARE", str(tmp_path / "fw_dynamic.bin"))
    assert firmware_warning(old) is None and "with the rights of the hypervisor" in str(firmware_warning(new))
    monkeypatch.setenv("FIRMWARE", str(OWN_FIRMWARE))
    assert firmware_warning(new) is None
    monkeypatch.setenv("FIRMWARE", "no-such-file")
    with pytest.raises(RunError, match=r"FIRMWARE=no-such-file: there is no such file"):
        firmware_arguments(old)


def test_warning_of_opensbi() -> None:
    make("image", "SYSTEM=hello")
    words = [sys.executable, "tools/run.py", "smoke", "--system", "hello", "--timeout", "0.1"]
    done = run(words, QEMU=NEWER_QEMU, FIRMWARE="opensbi", PYTHONDONTWRITEBYTECODE="1")
    assert re.fullmatch(r"warning: FIRMWARE=opensbi: .*\(docs/isolation\.md\).*\n", done.stderr), done.stderr
