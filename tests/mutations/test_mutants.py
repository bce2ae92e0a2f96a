# SPDX-License-Identifier: Apache-2.0
"""
Runs the hostile guest's attacks against hypervisors with one defence removed (faults.toml). The
attacks must fail there; otherwise passing them shows nothing. `make mutate-faults` writes the table
to build/mutants/faults.md.
"""

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attack_helpers import ACCEL, STORAGE, VIRTIO, Attack, AttackMachines, menu
from helpers import HYPERVISOR_BIN, make
from replacement import replaced

from tessera.run.runner import ROOT

OUT = ROOT / "build" / "mutants"
SOURCE = OUT / "source"
SOURCES = (
    "Makefile",
    "abi",
    "arch",
    "core",
    "services",
    "ipc",
    "devices",
    "fpga/hw/include",
    "platform",
    "rt",
    "tools",
)
TIMEOUT_S = 12  # timeout of each wait; an attack on an intact hypervisor takes about 1 s
TIMES = 5  # runs of an attack in the host's time, where two harts may not meet in the first one
UNTIMED = {"vector_unmapped"}
PLAN = tomllib.loads((Path(__file__).parent / "faults.toml").read_text(encoding="utf-8"))
MENU = {attack.name: attack for attack in menu()}


@pytest.fixture(scope="module")
def source() -> Iterator[Path]:
    """A copy of the hypervisor's sources."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, SOURCE / name)
        else:
            shutil.copy(ROOT / name, SOURCE / name)
    return SOURCE


def folder_of(mutation: dict[str, Any]) -> Path:
    return OUT / mutation["name"].replace(" ", "-").replace("'", "")


def write_table() -> None:
    """Writes the results of this run and earlier ones."""
    lines = ["| removed defence | attack | how it failed |", "|---|---|---|"]
    for mutation in PLAN["mutation"]:
        found = folder_of(mutation) / "found.json"
        rows = json.loads(found.read_text(encoding="utf-8")) if found.is_file() else {}
        lines += [f"| {mutation['name']} | `{name}` | {how or '**did not fail**'} |" for name, how in rows.items()]
    (OUT / "faults.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def hypervisor_of(source: Path, mutation: dict[str, Any]) -> Path:
    """Builds the hypervisor without that defence, in a separate folder."""
    path = source / mutation["file"]
    text = path.read_text(encoding="utf-8")
    path.write_text(replaced(text, mutation["old"], mutation["new"]), encoding="utf-8")
    try:
        make("-C", str(source.relative_to(ROOT)), "hyp")
    finally:
        path.write_text(text, encoding="utf-8")
    kept = folder_of(mutation) / "tessera.bin"
    kept.parent.mkdir(parents=True, exist_ok=True)
    # The ELF file is for the plugin that counts by function.
    for built in (kept, kept.with_suffix(".elf")):
        shutil.copy(source / "build" / "hyp" / "qemu-virt" / built.name, built)
    return kept


def reason(attack: Attack, message: str) -> str:
    """The start of an attack's failure message, in one line. The pattern of a line that was not
    printed is left out; it may contain line breaks."""
    words = message.removeprefix(f"attacker: {attack.number} {attack.name}: ")
    words = re.sub(r"^(\w+): /.*?/: ", r"\1 did not print the expected line: ", words, flags=re.DOTALL)
    words = words.split("\n", 1)[0].removesuffix(". Its last lines:")
    return words.partition(" (QEMU got ")[0].replace("|", "/")[:100]


def failure(machines: AttackMachines, attack: Attack, times: int) -> str | None:
    """The reason of the failure, None if the attack did not fail."""
    for _ in range(times):
        try:
            machines.run(attack)
        except AssertionError as error:
            return reason(attack, str(error))
    return None


def machine_of(name: str, two_harts: bool) -> tuple[str, bool]:
    """The system on which an attack runs, and whether in virtual time."""
    if name in ACCEL:
        return "attacker-accel", True
    if name in VIRTIO:
        return ("attacker-virtio-two", False) if two_harts else ("attacker-virtio", True)
    if name in STORAGE:
        return ("attacker-storage-two", False) if two_harts else ("attacker-storage", True)
    return ("attacker-two", False) if two_harts else ("attacker", name not in UNTIMED)


def failures(
    label: str, hypervisor: Path, names: list[str], before: list[str], two_harts: bool = False
) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    wanted = {name: machine_of(name, two_harts) for name in [*before, *names]}
    for system, counted in sorted(set(wanted.values())):
        machines = AttackMachines(label, hypervisor=hypervisor, patience=TIMEOUT_S, counted=counted, name=system)
        for name in wanted:
            if wanted[name] == (system, counted):
                found[name] = failure(machines, MENU[name], 1 if counted else TIMES)
        machines.close()
    return found


@pytest.mark.parametrize("pattern", ["^ticker: ([0-9]+)$", "\n"], ids=["line", "line-break"])
def test_a_reason_is_one_line_without_the_pattern(pattern: str):
    attack = next(iter(MENU.values()))
    message = f"ticker: /{pattern}/: not within 12 s. Its last lines:\n  a/: b\nThe console's:\n"
    assert reason(attack, message) == "ticker did not print the expected line: not within 12 s"
    assert reason(attack, f"attacker: {attack.number} {attack.name}: WRONG in 1|2\nmore") == "WRONG in 1/2"


def test_with_all_defences():
    """All attacks pass on the intact hypervisor with the same timeout, so a mutant's timeout is not
    due to the host."""
    found = failures("mutant-none", HYPERVISOR_BIN, list(MENU), [])
    assert {name: how for name, how in found.items() if how is not None} == {}


@pytest.mark.parametrize("mutation", PLAN["mutation"], ids=lambda mutation: mutation["name"].replace(" ", "-"))
def test_without_defence(mutation: dict[str, Any], source: Path):
    hypervisor = hypervisor_of(source, mutation)
    two_harts = mutation.get("harts") == 2
    found = failures("mutant", hypervisor, mutation["attacks"], mutation.get("before", []), two_harts)
    found = {name: found[name] for name in mutation["attacks"]}
    (folder_of(mutation) / "found.json").write_text(json.dumps(found), encoding="utf-8")
    write_table()
    survived = [name for name, how in found.items() if how is None]
    assert not survived, f"these attacks pass without the defence: {', '.join(survived)}"
