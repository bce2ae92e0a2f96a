# SPDX-License-Identifier: Apache-2.0
"""
Every failure between a system file and a running guest produces one clear line and a non-zero exit
status.

test_smoke.py covers the errors of the runner (QEMU missing, too old, ...), tests/image those of the
builder. This file covers the whole chain of `make run`, and the hypervisor on an unsuitable machine
or with a damaged image.
"""

import re
import shutil
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from helpers import (
    BOOT_S,
    ERROR_S,
    OUT,
    SOON_S,
    boot_command,
    built,
    built_for,
    built_on,
    command,
    few_of,
    keyboard,
    on_every_board,
    run,
    wait_for_signs_of_life,
)

from tessera.image import layout
from tessera.image.elf import wrap
from tessera.run.machine import FIRMWARE, HYPERVISOR, Machine
from tessera.run.runner import BASE_CPU, ROOT, BuiltSystem, find_qemu, system_command


def make_run(system: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(["make", "-s", "run", f"SYSTEM={system}"], timeout=300, **environment)


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of standard error, without make's own message about the failed command."""
    return [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("make")]


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("bad-syntax", [r"bad-syntax\.dts:16:", "expected"]),
        ("bad-property", [r"bad-property\.dts:15:", "/vms/only", "colur"]),
        ("bad-missing", [r"bad-missing\.dts:13:", "nobody/nothing.bin"]),
        ("bad-oversized", [r"bad-oversized\.dts:13:", "/vms/only", "expected it to fit the RAM"]),
    ],
)
def test_invalid_system_source_gives_one_line(system, words):
    done = make_run(f"../tests/e2e/systems/{system}")
    said = complaints(done)
    assert done.returncode != 0
    assert len(said) == 1, done.stderr
    for word in words:
        assert re.search(word, said[0]), said[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert "OpenSBI" not in done.stdout  # nothing was booted


@pytest.mark.parametrize("system", ["a b", "demo;echo hi", "it's", '"', "$$HOME", "`id`", ""])
def test_invalid_system_name_is_refused(system):
    done = make_run(system)
    said = complaints(done)
    assert done.returncode != 0
    shown = system.replace("$$", "$")  # make expands $$
    assert said == [f"systems/{shown}.dts:1: cannot be read: No such file or directory"]
    assert "hi" not in done.stdout.split()


def test_misspelt_system_name_gives_a_suggestion():
    done = make_run("dmeo")
    assert done.returncode != 0
    assert complaints(done) == ['systems/dmeo.dts:1: cannot be read: No such file or directory (did you mean "demo"?)']


def make_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs make with `folder` as its build folder; make must fail before creating it."""
    done = run(["make", "-s", *words, f"BUILD={folder}"], timeout=300)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not folder.exists(), sorted(folder.rglob("*"))
    return done


@pytest.mark.parametrize(
    ("system", "board", "right"), [("m5150", "qemu-virt", "m5150"), ("demo", "m5150", "qemu-virt")]
)
@pytest.mark.parametrize("goal", ["run", "smoke", "native", "image"])
def test_a_system_for_another_board(goal, system, board, right, tmp_path):
    done = make_in(tmp_path / "build", goal, f"SYSTEM={system}", f"PLATFORM={board}")
    assert complaints(done) == [f"systems/{system}.dts is for board {right}: use PLATFORM={right}"]


def test_a_path_in_a_system_file_runs_no_command():
    """make receives the list of guest files and would expand make syntax in it."""
    source, mark = OUT / "with-a-command.dts", OUT / "command-ran"
    mark.unlink(missing_ok=True)
    text = (ROOT / "systems" / "rt.dts").read_text(encoding="utf-8")
    image = re.search(r'image = "(.*?)"', text)[1]
    source.write_text(text.replace(image, f"$(shell touch {mark})x.bin"), encoding="utf-8")
    done = run(["make", "-s", "image", f"SYSTEM=../{source.relative_to(ROOT).with_suffix('')}"])
    assert done.returncode != 0
    assert "x.bin" in done.stderr
    assert not mark.exists()


@pytest.mark.parametrize(("goal", "lacks"), [("debug", "debugger"), ("debug-server", "debugger"), ("trace", "trace")])
def test_feature_that_the_m5150_lacks(goal, lacks, tmp_path):
    done = make_in(tmp_path / "build", goal, "PLATFORM=m5150")
    said = re.sub(r"^\S+ \*\*\* ", "", done.stderr.strip())
    assert said == f"make {goal}: board m5150 has no {lacks} (CAVEATS.md); use PLATFORM=qemu-virt.  Stop."


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["run.py", "debug", "rtm"], "debug: error: "),
        (["run.py", "debug-server", "rtm"], "debug-server: error: "),
        (["trace.py"], "trace: error: "),
    ],
)
def test_feature_that_the_m5150_lacks_without_make(words, error, build_system):
    lacks = "trace" if words == ["trace.py"] else "debugger"
    build_system("m5150", PLATFORM="m5150")
    done = run([sys.executable, f"tools/{words[0]}", *words[1:], "--system", "m5150"])
    said = f"{error}system 'm5150' is for the board 'm5150', which has no {lacks}"
    assert (done.returncode, done.stderr.splitlines()) == (1, [said])


def debug_server(port: str) -> str:
    """The error line of `make debug-server PORT=port`."""
    done = run([sys.executable, "tools/run.py", "debug-server", "--system", "bench", "--listen", port, "bench"])
    assert done.returncode == 1, done.stdout
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("port", ["70000", "65536", "0", "-1", "+80", "0x50", "127.0.0.1:1234", ":1234"])
def test_invalid_port_is_refused(port, build_system):
    build_system("bench")
    expected = "expected a TCP port from 1 to 65535, or the path of a socket"
    assert debug_server(port) == f"debug-server: error: PORT={port}: {expected}"


def test_port_in_use_is_refused(build_system):
    build_system("bench")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = debug_server(port)
    in_use = f"PORT={port}: cannot listen at TCP port {port}: Address already in use"
    assert re.fullmatch(
        rf"debug-server: error: {in_use}; choose another one, for instance make debug-server PORT=\d+", said
    ), said


def test_existing_path_is_not_used_as_socket(build_system, tmp_path):
    """An existing file named by PORT= is not overwritten."""
    build_system("bench")
    mine = tmp_path / "mine"
    mine.write_text("precious")
    for path in (str(mine), str(tmp_path), str(tmp_path / "no" / "where"), ""):
        assert debug_server(path) == (
            f"debug-server: error: PORT={path}: expected a TCP port, or the path of a socket that does not exist yet"
        )
    assert mine.read_text() == "precious"


# Programs of a Debian system without further packages, plus make.
BARE_DEBIAN = (
    "awk",
    "bash",
    "cat",
    "cut",
    "dirname",
    "env",
    "find",
    "grep",
    "ls",
    "make",
    "mkdir",
    "sed",
    "sh",
    "sort",
)


@pytest.mark.parametrize("words", [[], ["help"]])
def test_help_on_a_bare_debian(words, tmp_path):
    for name in BARE_DEBIAN:
        program = shutil.which(name)
        assert program, name
        (tmp_path / name).symlink_to(program)
    done = run(["make", *words], PATH=str(tmp_path), ONLY="")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^  make run +boot SYSTEM in QEMU", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("vm", ["", "x y", "linux;echo hi"])
def test_make_native_of_unknown_vm(vm):
    done = run(["make", "-s", "native", "SYSTEM=bench", f"VM={vm}"], timeout=300)
    assert done.returncode != 0
    assert complaints(done) == [f"native: error: system 'bench' has no VM '{vm}'; it has bench"]
    assert "hi" not in done.stdout.split()


def test_make_run_for_unknown_board():
    done = make_run("bench", BOARD="zz")
    assert done.returncode != 0
    assert re.fullmatch(r"Makefile:\d+: \*\*\* BOARD=zz: no such board; there are .*qemu-virt.*", done.stderr.strip())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run CONSOLES=tty", "make run: CONSOLES=tty: expected shared or pty"),
        ("test-fuzz-host ONLY=nosuch", "make test-fuzz-host: ONLY=nosuch: expected some of image calls tree virtio"),
        (
            "test-coverage ONLY=vuart",
            "make test-coverage: ONLY= selects nothing here: it takes all tests to know what none executes",
        ),
        ("fuzz PLATFORM=m5150", "make fuzz: board m5150 has no guest that makes random calls; use PLATFORM=qemu-virt"),
        ("debug PLATFORM=m5150", "make debug: board m5150 has no debugger (CAVEATS.md); use PLATFORM=qemu-virt"),
        ("trace PLATFORM=m5150", "make trace: board m5150 has no trace (CAVEATS.md); use PLATFORM=qemu-virt"),
    ],
)
def test_unsupported_goal_is_refused_before_building(words, said):
    done = run(["make", *words.split()])
    assert done.returncode != 0
    assert done.stdout == ""
    assert re.fullmatch(rf"[\w/.]+:\d+: \*\*\* {re.escape(said)}\.  Stop\.", done.stderr.strip())


def test_make_run_without_qemu():
    done = make_run("bench", QEMU="/nonexistent/qemu")
    assert done.returncode != 0
    assert len(complaints(done)) == 1, done.stderr
    assert "/nonexistent/qemu" in done.stderr


def test_make_run_on_a_machine_without_the_hypervisor_extension():
    """QEMU supports the extension but the CPU has it disabled, so only the hypervisor can detect
    this."""
    done = make_run("bench", CPU="h=false")
    assert done.returncode != 0
    assert re.search(r"error: this machine's harts lack the H extension", done.stdout), done.stdout[-1000:]
    assert "Traceback" not in done.stdout + done.stderr


def machine_fails(words: list[str], names: list[str], label: str) -> tuple[list[str], int]:
    """Boots a system that must fail and power off. Returns the hypervisor's `error:` lines and
    QEMU's exit status."""
    OUT.mkdir(parents=True, exist_ok=True)
    with Machine(words, names, OUT / f"{label}.log") as machine:
        status = machine.status(ERROR_S)
        machine.wait_until(lambda: False, 2)  # until the rest of the output has been read
        text = machine.console.text(HYPERVISOR) + machine.console.text(FIRMWARE)
        return [line for line in text.split("\n") if "error:" in line], status


def boot_fails(system: BuiltSystem, label: str, *arguments: str, cpu: str = "") -> tuple[list[str], int]:
    words = [*boot_command(system), *arguments]
    if cpu:
        words[words.index("-cpu") + 1] = cpu
    return machine_fails(words, system.names, label)


@pytest.mark.parametrize("cpu", [BASE_CPU.replace("true", "false"), f"{BASE_CPU},h=false"])
def test_the_hypervisor_says_that_the_extension_is_missing(cpu):
    """QEMU runs the image directly, without the runner's checks."""
    errors, status = boot_fails(built("trio"), "bad-no-h", cpu=cpu)
    assert len(errors) == 1, errors
    assert "this machine's harts lack the H extension (hypervisor)" in errors[0]
    assert status != 0


def test_too_few_harts():
    errors, status = boot_fails(built("trio"), "bad-harts", "-smp", "1")
    assert len(errors) == 1, errors
    assert "the number of harts: 1, expected 2" in errors[0]
    assert status != 0


def test_extra_harts_stay_unused():
    """This is valid: OpenSBI may start any of the four harts first."""
    system = built("trio")
    with Machine([*system_command(find_qemu(), system), "-smp", "4"], system.names, OUT / "more-harts.log") as machine:
        wait_for_signs_of_life(machine, system, BOOT_S)


def image_start(data: bytes) -> int:
    """The offset of the system image in the file, after the hypervisor."""
    return [found.start() for found in re.finditer(rb"TESSERA1", data) if found.start() % 4096 == 0][-1]


@pytest.mark.parametrize("board", few_of(["qemu-virt", "m5150", "m5150-generic"], ["qemu-virt", "m5150"]))
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data, at: data[:at], "no system image after the hypervisor"),
        (lambda data, at: data[: at + 4], "no system image after the hypervisor"),
        (lambda data, at: data[: at + 40], "."),  # in the header
        (lambda data, at: data[: at + 200], "it is truncated"),  # in the tables
        (lambda data, at: data[:at] + b"X" + data[at + 1 :], "no system image after the hypervisor"),
        (lambda data, at: data[: at + 8] + b"\x63" + data[at + 9 :], "a system image of another version"),
        (lambda data, at: data[: at + 300] + bytes([data[at + 300] ^ 1]) + data[at + 301 :], "a wrong checksum"),
        (lambda data, at: data[:-5000], "it is truncated"),
    ],
    ids=["cut before", "cut magic", "cut header", "cut tables", "magic", "version", "flipped bit", "cut payload"],
)
def test_an_image_that_was_damaged(board, spoil, says, tmp_path):
    system = built("trio") if board == "qemu-virt" else built_for("m5150", board)
    data = system.image.read_bytes()
    data = spoil(data, image_start(data))
    damaged = tmp_path / "tessera.bin"
    damaged.write_bytes(data)
    # iasim loads the ELF file.
    damaged.with_suffix(".elf").write_bytes(wrap(data, system.data["load_address"]))
    errors, status = boot_fails(BuiltSystem(system.name, damaged, system.data), "bad-image")
    assert len(errors) == 1, errors
    assert re.search(f"error: the system image cannot be used: .*{says}", errors[0]), errors
    assert status != 0


def damaged_copy(system: BuiltSystem, data: bytes, folder: Path) -> BuiltSystem:
    """The system with its image replaced by `data`."""
    image = folder / "tessera.bin"
    image.write_bytes(data)
    # iasim loads the ELF file.
    image.with_suffix(".elf").write_bytes(wrap(data, system.data["load_address"]))
    return BuiltSystem(system.name, image, system.data)


def first_load(data: bytes, at: int, number: int) -> dict[str, int]:
    """The first load of VM `number`, which is its guest image."""
    vms = at + layout.HEADER.unpack(data, at)["vms_offset"]
    vm = layout.VM.unpack(data, vms + number * layout.VM.size)
    return layout.LOAD.unpack(data, at + vm["loads_offset"])


@pytest.mark.parametrize("name", on_every_board("trio"))
def test_a_vm_whose_payload_was_damaged_is_refused_and_named(name: str, tmp_path: Path):
    """At boot and on every later start. VMs with other guests run."""
    system = built_on(name)
    data = bytearray(system.image.read_bytes())
    at = image_start(bytes(data))
    load = first_load(bytes(data), at, system.names.index("freertos"))
    data[at + load["offset"] + load["size"] // 2] ^= 0x10
    damaged = damaged_copy(system, bytes(data), tmp_path)
    refusal = rf"^error: freertos is not started: its payload 0 \(0x{load['size']:x} bytes for 0x{load['gpa']:x}\) "
    with Machine(boot_command(damaged), system.names, OUT / f"bad-payload-{name}.log") as machine:
        for _ in range(2):
            machine.expect(HYPERVISOR, refusal + "has a wrong checksum$", BOOT_S)
            machine.expect(HYPERVISOR, "^freertos stopped because a payload is damaged$", SOON_S)
            keyboard(machine, "freertos")
            command(machine, "g")
        for name in ("first", "second"):
            machine.expect(name, "^misbehave: alive 1$", BOOT_S)
        assert machine.console.text("freertos") == ""


FW_JUMP = Path("/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.bin")
JUMP_TREE = 0x82200000  # where fw_jump places the device tree


def grown(data: bytes, at: int, size: int) -> bytes:
    """The file with `size` bytes added to its image, and a correct checksum."""
    total = layout.HEADER.unpack(data, at)["total_size"]
    larger = bytearray(data[: at + total - 8] + bytes(size) + layout.END.to_bytes(8, "little"))
    struct.pack_into("<Q", larger, at + layout.HEADER.offset("total_size"), total + size)
    return sealed(larger, at)


@pytest.mark.skipif(not FW_JUMP.exists(), reason="this OpenSBI has no fw_jump")
def test_firmware_that_puts_its_device_tree_into_the_image(tmp_path: Path):
    system = built("trio")
    data = system.image.read_bytes()
    larger = grown(data, image_start(data), 40 << 20)
    errors, status = boot_fails(damaged_copy(system, larger, tmp_path), "bad-tree", "-bios", str(FW_JUMP))
    end = system.data["load_address"] + len(larger) - 1
    assert len(errors) == 1, errors
    assert re.search(
        rf"the firmware.s device tree at 0x{JUMP_TREE:x} to 0x822[0-9a-f]+ overlaps the hypervisor and its image at "
        rf"0x80200000 to 0x{end:x};",
        errors[0],
    ), errors
    assert status != 0


@pytest.mark.skipif(not FW_JUMP.exists(), reason="this OpenSBI has no fw_jump")
def test_firmware_that_puts_its_device_tree_into_guests_memory_does_no_harm():
    system = built("trio")
    words = [*boot_command(system), "-bios", str(FW_JUMP)]
    with Machine(words, system.names, OUT / "tree-in-ram.log") as machine:
        wait_for_signs_of_life(machine, system, BOOT_S)


def sealed(spoiled: bytearray, at: int) -> bytes:
    """The bytes with a corrected checksum of header and tables."""
    checked = spoiled[at + 16 : at + layout.HEADER.unpack(bytes(spoiled), at)["config_size"]]
    struct.pack_into("<I", spoiled, at + 12, zlib.crc32(checked))
    return bytes(spoiled)


def with_region_at(data: bytes, at: int, kind: int, host: int) -> bytes:
    """The file with the first region of that kind moved to `host`, and a correct checksum."""
    spoiled = bytearray(data)
    header = layout.HEADER.unpack(data, at)
    vms = [layout.VM.unpack(data, at + header["vms_offset"] + i * layout.VM.size) for i in range(header["nvms"])]
    places = [at + vm["regions_offset"] + i * layout.REGION.size for vm in vms for i in range(vm["nregions"])]
    place = next(p for p in places if layout.REGION.unpack(data, p)["kind"] == kind)
    struct.pack_into("<Q", spoiled, place + 8, host)  # hpa of struct sysimage_region
    return sealed(spoiled, at)


def refuses_region(system: BuiltSystem, kind: int, host: int, folder: Path, words: str) -> None:
    data = system.image.read_bytes()
    damaged = folder / "tessera.bin"
    damaged.write_bytes(with_region_at(data, image_start(data), kind, host))
    damaged.with_suffix(".elf").write_bytes(wrap(damaged.read_bytes(), system.data["load_address"]))
    errors, status = boot_fails(BuiltSystem(system.name, damaged, system.data), "bad-memory")
    assert len(errors) == 1, errors
    assert words in errors[0]
    assert status != 0


@pytest.mark.parametrize("host", [0x80000000, 0x80200000])
def test_an_image_that_gives_a_guest_the_hypervisors_memory(host: int, tmp_path: Path):
    """Regions that begin or end in the hypervisor's memory; the builder never creates such an
    image."""
    refuses_region(built("trio"), layout.REGION_RAM, host, tmp_path, "guest memory overlaps the hypervisor")


@pytest.mark.parametrize("host", [0x10000000, 0x0C3FF000, 0x100000])
def test_an_image_that_gives_a_guest_the_hypervisors_device(host: int, tmp_path: Path):
    """The UART, the last page of the interrupt controller, and the finisher."""
    refuses_region(built("storm"), layout.REGION_MMIO, host, tmp_path, "a guest's device is the hypervisor's")
