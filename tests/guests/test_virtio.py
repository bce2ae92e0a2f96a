# SPDX-License-Identifier: Apache-2.0
"""The SDK's drivers of PCI functions, natively with QEMU's devices, which are independent of the hypervisor's; and the
virtqueue on this machine, with a device that misbehaves."""

import hashlib
import random
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tessera.run.runner import ROOT

SDK = ROOT / "guests" / "sdk"
HOST = ROOT / "tests" / "guests"
DISK = 4 << 20
RUNS = 5000
BOOT_S = 60
MMIO_MODERN = ["-global", "virtio-mmio.force-legacy=false"]


def net(number: int, backend: str) -> list[str]:
    device = f"virtio-net-pci,disable-legacy=on,netdev=n,romfile=,mac=02:00:00:00:00:{number:02x}"
    return ["-netdev", f"{backend},id=n", "-device", device]


def wire(folder: Path, number: int, peer: int) -> list[str]:
    """One end of a wire between two machines, each with two harts: QEMU 7.2 ignores the fences of a single one, though
    its devices run beside it, so that a driver misses an interrupt of a device."""
    ends = f"local.type=unix,local.path={folder}/{number},remote.type=unix,remote.path={folder}/{peer}"
    return ["-smp", "2", *net(number, f"dgram,{ends}")]


def disk(file: Path, *options: str) -> list[str]:
    """A flush does not wait for the host's disk, which may take longer than the driver waits."""
    return [
        *("-drive", ",".join(["if=none,id=d,format=raw,cache=unsafe", f"file={file}", *options])),
        *("-device", "virtio-blk-pci,disable-legacy=on,drive=d"),
    ]


def expect_done(machine) -> None:
    said = machine.expect("virtio", r"^virtio: done, (\d+) wrong$", BOOT_S)
    assert said[1] == "0", machine.console.text("virtio")


@pytest.fixture
def content(tmp_path) -> Path:
    file = tmp_path / "disk"
    file.write_bytes(random.Random(1).randbytes(DISK))
    return file


def test_virtqueue_on_the_host(tmp_path):
    program = str(tmp_path / "virtqueue_host")
    cc = ["gcc", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    # The headers of RISC-V last: those of this machine replace some of them.
    folders = [f"-I{HOST / 'host'}", f"-I{SDK / 'include'}", "-idirafter", str(SDK / "riscv/include")]
    sources = [str(SDK / "virtio/virtqueue.c"), str(HOST / "virtqueue_host.c")]
    subprocess.run([*cc, "-fno-sanitize-recover=all", *folders, *sources, "-o", program], check=True)
    done = subprocess.run([program, str(RUNS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_driver(boot, content):
    """All functions in one machine: entropy, a disk that is overwritten, shared memory, a network."""
    before = hashlib.sha256(content.read_bytes()).digest()
    machine = boot(
        "virtio",
        *("-device", "virtio-rng-pci,disable-legacy=on"),
        *disk(content),
        *("-object", "memory-backend-ram,id=m,size=1M,share=on", "-device", "ivshmem-plain,memdev=m"),
        *net(1, "user"),
    )
    machine.expect("virtio", r"^virtio: rng 0 tested$", BOOT_S)
    machine.expect("virtio", rf"^virtio: disk 0 of {DISK // 512} sectors tested$", BOOT_S)
    machine.expect("virtio", rf"^virtio: ivshmem 0 of {1 << 20} bytes in VM 0 tested$", BOOT_S)
    machine.expect("virtio", r"^virtio: net 0 tested$", BOOT_S)
    expect_done(machine)
    assert hashlib.sha256(content.read_bytes()).digest() != before


def test_read_only_disk(boot, content):
    before = content.read_bytes()
    machine = boot("virtio", *disk(content, "readonly=on"))
    machine.expect("virtio", rf"^virtio: disk 0 of {DISK // 512} sectors, read-only, tested$", BOOT_S)
    expect_done(machine)
    assert content.read_bytes() == before


def test_nothing_to_test_is_reported(boot):
    machine = boot("virtio")
    machine.expect("virtio", r"^virtio: wrong: functions that the drivers know$", BOOT_S)
    machine.expect("virtio", r"^virtio: done, 1 wrong$")


@pytest.mark.parametrize(("size", "sleep"), [(60, 0), (60, 1), (1514, 0), (1514, 1)])
def test_frames_between_two_machines(boot, tmp_path, size, sleep):
    """They come back complete and in order, polled and by interrupts."""
    boot("virtio", *wire(tmp_path, 2, 1), "-append", f"role=echo sleep={sleep}")
    arguments = f"role=send count=1000 size={size} peer=2 sleep={sleep}"
    machine = boot("virtio", *wire(tmp_path, 1, 2), "-append", arguments)
    machine.expect("virtio", rf"^virtio: net: 1000 frames of {size} bytes came back$", BOOT_S)
    expect_done(machine)


def line(folder: Path, server: str) -> list[str]:
    """One end of a line between two machines."""
    chardev = f"socket,id=c,path={folder / 'line'},server={server}" + (",wait=off" if server == "on" else "")
    serial = ["-device", "virtio-serial-pci,disable-legacy=on,max_ports=1", "-device", "virtconsole,chardev=c"]
    return ["-smp", "2", "-chardev", chardev, *serial]


@pytest.mark.parametrize("sleep", [0, 1])
def test_line_between_two_machines(boot, tmp_path, sleep):
    echo = boot("virtio", *line(tmp_path, "on"), "-append", f"console=echo sleep={sleep}")
    echo.expect("virtio", r"^virtio: console: echo$", BOOT_S)
    machine = boot("virtio", *line(tmp_path, "off"), "-append", f"console=send sleep={sleep}")
    machine.expect("virtio", r"^virtio: console: \d+ bytes came back$", BOOT_S)
    expect_done(machine)
    expect_done(echo)


@pytest.mark.parametrize("sleep", [0, 1])
def test_frames_by_a_device_on_mmio(boot, tmp_path, sleep):
    """The peer's device is on PCI."""
    boot("virtio", *wire(tmp_path, 2, 1), "-append", "role=echo")
    on_mmio = [
        argument.replace("virtio-net-pci,disable-legacy=on", "virtio-net-device") for argument in wire(tmp_path, 1, 2)
    ]
    on_mmio = [argument.replace("romfile=,", "") for argument in on_mmio]
    arguments = f"role=send count=1000 size=1514 peer=2 mmio=1 sleep={sleep}"
    machine = boot("virtio", *MMIO_MODERN, *on_mmio, "-append", arguments)
    machine.expect("virtio", r"^virtio: net: 1000 frames of 1514 bytes came back$", BOOT_S)
    expect_done(machine)


def test_load(boot, tmp_path):
    receiver = boot("virtio_bench", *wire(tmp_path, 2, 1), "-append", "role=receive frames=5000")
    receiver.expect("virtio_bench", r"^virtio_bench: receive begins", BOOT_S)
    sender = boot("virtio_bench", *wire(tmp_path, 1, 2), "-append", "role=send frames=5000 size=1514")
    sender.expect("virtio_bench", r"^virtio_bench: send done, 5000 frames$", BOOT_S)
    receiver.expect("virtio_bench", r"^virtio_bench: receive done, \d+ frames$", BOOT_S)


def test_web_server_of_freertos(boot, tmp_path):
    """The page counts its requests; other paths and methods are refused."""
    socket = "127.0.0.1:0"
    machine = boot("freertos_web", *net(3, f"user,hostfwd=tcp:{socket}-:80"), "-append", "ip=10.0.2.15")
    machine.expect("freertos_web", r"^web: http://10\.0\.2\.15/$", BOOT_S)
    port = forwarded_port(machine.process.pid)
    for number in (1, 2):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=BOOT_S) as page:
            assert f"<td>requests</td><td>{number}</td>" in page.read().decode()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=BOOT_S)
    with pytest.raises(urllib.error.HTTPError, match="501"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", data=b"posted", timeout=BOOT_S)
    assert "FAILED" not in machine.console.text("freertos_web")


def forwarded_port(pid: int) -> int:
    """The TCP port on which QEMU listens: the only socket in state LISTEN (0A) that the process has."""
    links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    found = [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links]
    assert len(found) == 1, found
    return found[0]
