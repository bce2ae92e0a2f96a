# SPDX-License-Identifier: Apache-2.0
"""What users see when the fabric cannot be added to QEMU's machine."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tessera.run.cosim import BUILD, FabricOptions, fabric_arguments
from tessera.run.runner import ROOT, RunError

SOURCE = ROOT / "fpga/target/cosim/qemu_device.cc"
SYMBOLS = re.findall(r"QEMU_SYMBOL\((\w+)\)", SOURCE.read_text(encoding="utf-8"))[1:]  # without the macro itself

# A program like QEMU: it has the functions of a library and loads the plugin.
HOST = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
print("result", ctypes.CDLL(sys.argv[2]).qemu_plugin_install(0, None, 0, None))
"""


def install_without(missing: set[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Loads the plugin into a process that has QEMU's functions except these."""
    source, library = folder / "qemu.c", folder / "qemu.so"
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in SYMBOLS if name not in missing))
    subprocess.run(["clang", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    plugin = BUILD / "libfabric-1.so"
    command = [sys.executable, "-c", HOST, str(library), str(plugin)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("missing", [SYMBOLS[:1], SYMBOLS[-1:], ["address_space_rw", "qemu_set_irq"]], ids="+".join)
def test_a_qemu_without_a_function_is_refused(missing, tmp_path):
    done = install_without({*missing}, tmp_path)
    assert done.stdout == "result 1\n", done.stderr
    named = re.fullmatch(
        r"fabric: this QEMU does not export: ([\w ]+)\. Expected a QEMU that was built with loadable modules, such as "
        r"Debian's 7\.2 or 10\.0\n", done.stderr)  # fmt: skip
    assert named, done.stderr
    assert {*named[1].split()} == {*missing}


def test_a_qemu_with_all_functions_is_accepted(tmp_path):
    done = install_without(set(), tmp_path)
    assert (done.stdout, done.stderr) == ("result 0\n", "")


def refusal(qemu, arguments: list[str], machine: str = "virt") -> str:
    command = [qemu.program, "-M", machine, "-display", "none", "-monitor", "none", "-serial", "none", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("quantum=9", "option quantum=9: expected a number from 10 to 1000000"),
        ("period=fast", "option period=fast: expected a number from 1 to 100000000"),
        ("irq=0", "option irq=0: expected a number from 1 to 84"),
        (
            "colour=red",
            "unknown option 'colour=red': expected base=, irq=, period=, quantum=, shared=, trace=, stats=, waves=, "
            "uart=, typed=, flash=, pcap=, pins= or screen=",
        ),
        ("trace=/nowhere/file", "trace=/nowhere/file: No such file or directory"),
        ("stats=/nowhere/file", "stats=/nowhere/file: No such file or directory"),
        ("shared=1,pins=/nowhere/file", "pins=/nowhere/file: No such file or directory"),
        ("shared=1,screen=/nowhere/file", "screen=/nowhere/file: No such file or directory"),
        ("shared=1,typed=/nowhere/file", "typed=/nowhere/file: No such file or directory"),
        ("shared=1,pcap=/nowhere/file", "pcap=/nowhere/file: No such file or directory"),
        ("shared=1,flash=/nowhere/a/file", "flash=/nowhere/a/file: No such file or directory"),
        ("waves=file.fst", "this model has no waveforms: expected the one that `make cosim FST=1` builds"),
    ],
)
def test_a_wrong_option_is_refused(qemu, option, message):
    name, plugin = fabric_arguments(qemu)
    assert f"fabric: {message}\n" in refusal(qemu, [name, f"{plugin},{option}"])


def test_a_file_larger_than_the_flash_is_refused(qemu, tmp_path):
    """It would be cut when it is written back."""
    file = tmp_path / "flash"
    with file.open("wb") as large:
        large.truncate((16 << 20) + 1)
    name, plugin = fabric_arguments(qemu)
    expected = f"fabric: flash={file}: expected a file of at most 16 MiB\n"
    assert expected in refusal(qemu, [name, f"{plugin},shared=1,flash={file}"])
    assert file.stat().st_size == (16 << 20) + 1


def test_a_machine_without_a_plic_is_refused(qemu):
    expected = "fabric: this machine has no PLIC (riscv.sifive.plic); expected -M virt\n"
    assert expected in refusal(qemu, fabric_arguments(qemu), "virt,aia=aplic")


@pytest.mark.parametrize("version", [(9, 0), (11, 0)])
def test_an_unknown_plugin_interface_is_refused(qemu, version):
    with pytest.raises(RunError, match=rf"is version {version[0]}\.{version[1]}, whose plugin interface is unknown"):
        fabric_arguments(replace(qemu, version=version))


def test_a_missing_model_is_refused(qemu, monkeypatch, tmp_path):
    monkeypatch.setattr("tessera.run.cosim.BUILD", tmp_path)
    with pytest.raises(RunError, match=r"libfabric-\d\.so does not exist \(run `make cosim`\)"):
        fabric_arguments(qemu)
    with pytest.raises(RunError, match=r"fst/libfabric-\d\.so does not exist \(run `make cosim FST=1`\)"):
        fabric_arguments(qemu, options=FabricOptions(waves=tmp_path / "w.fst"))


def test_a_file_name_with_a_comma_is_refused(qemu):
    with pytest.raises(RunError, match="choose a path without a comma"):
        fabric_arguments(qemu, options=FabricOptions(stats=Path("a,b")))
