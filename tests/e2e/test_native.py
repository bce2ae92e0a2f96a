# SPDX-License-Identifier: Apache-2.0
"""The guests are unmodified: the same bytes boot natively, under OpenSBI and under the project's firmware, and are in
the system image."""

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import NEWER_QEMU, make

from tessera.run.runner import ROOT, find_qemu, native_command

GUESTS = ["linux", "freertos", "uboot"]
BOOT_S = 120
PROMPT = r"^linux:~# "


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def native_files(command: list[str]) -> dict[str, bytes]:
    """The files a native command line boots, by option."""
    options = dict(pairwise(command))
    return {option: Path(options[option]).read_bytes() for option in ("-kernel", "-initrd") if option in options}


@pytest.mark.parametrize("guest", GUESTS)
def test_native_guest_gives_its_sign_of_life(guest, build_system, boot_native):
    system = build_system("demo")
    machine = boot_native(system, guest)
    machine.expect(guest, re.escape(system.vm(guest)["sign_of_life"]), timeout=BOOT_S)


@pytest.mark.parametrize("guest", GUESTS)
def test_same_bytes_natively_and_in_the_system_image(guest, build_system, boot_native):
    system = build_system("demo")
    vm = system.vm(guest)
    files = native_files(boot_native(system, guest).command)
    assert sha256(files["-kernel"]) == vm["image"]["sha256"]
    if "-initrd" in files:
        assert sha256(files["-initrd"]) == vm["initrd"]["sha256"]
    # Search the image itself, too, not only the builder's description: each file is a payload, 4
    # KiB aligned.
    image = system.image.read_bytes()
    for option, data in files.items():
        starts = [match.start() for match in re.finditer(re.escape(data[:4096]), image)]
        assert any(image[start : start + len(data)] == data for start in starts), (
            f"{guest}: {option} is not in the image"
        )


def test_linux_and_uboot_are_the_files_of_debians_packages(build_system):
    system = build_system("demo")
    packages = ROOT / "cache" / "pkg"
    originals = {
        "linux": next((packages / "debian-installer-13-netboot-riscv64").rglob("text/debian-installer/riscv64/linux")),
        "uboot": packages / "u-boot-qemu/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin",
    }
    for name, original in originals.items():
        assert sha256(original.read_bytes()) == system.vm(name)["image"]["sha256"], name


def test_packages_match_their_pins_or_are_recorded_as_different():
    make("build/guests/linux/flash.cpio.gz", "build/guests/uboot/u-boot.bin")  # fetches all packages
    lock = json.loads((ROOT / "guests" / "packages.lock").read_text())["debian"]
    for name, pin in lock.items():
        have = json.loads((ROOT / "cache" / "pkg" / f"{name}.json").read_text())
        assert have["pinned"] == pin["version"], name
        assert (have["version"] == pin["version"]) == (have["sha256"] == pin["sha256"]), name


def test_native_linux_offers_a_shell(build_system, boot_native):
    machine = boot_native(build_system("demo"), "linux", "-device", "virtio-rng-device")
    machine.expect("linux", PROMPT, timeout=BOOT_S)
    machine.send("cat /sys/class/misc/hw_random/rng_current\r")
    machine.expect("linux", r"^virtio_rng\.0")
    machine.expect("linux", PROMPT)
    # Prints from the child that Ctrl-C must end.
    machine.send("sh -c 'echo nap$((40 + 2)); exec sleep 1000'\r")
    machine.expect("linux", r"^nap42")
    machine.send("\x03")
    machine.expect("linux", PROMPT)  # the shell has job control: Ctrl-C ends its child, not itself
    machine.send("poweroff\r")
    assert machine.status(60) == 0


def test_native_uboot_on_the_own_firmware(build_system, spawn):
    """The default with a QEMU of 10.0 or later."""
    system = build_system("demo")
    machine = spawn(native_command(find_qemu(NEWER_QEMU), system, "uboot"), ["uboot"])
    machine.expect("uboot", re.escape(system.vm("uboot")["sign_of_life"]), timeout=BOOT_S)


def test_native_linux_on_the_own_firmware(build_system, spawn):
    """On two harts, of which Linux stops and starts one."""
    command = native_command(find_qemu(NEWER_QEMU), build_system("demo"), "linux")
    machine = spawn([*command, "-smp", "2"], ["linux"])
    machine.expect("linux", PROMPT, timeout=BOOT_S)
    assert "firmware@80000000" in machine.console.text("linux")  # reserved in the device tree
    online = "/sys/devices/system/cpu/cpu1/online"
    machine.send(f"for on in 0 1; do echo $on > {online}; cat /sys/devices/system/cpu/online; done\r")
    machine.expect("linux", r"^0$")
    machine.expect("linux", r"^0-1$")
    machine.expect("linux", PROMPT)
    machine.send("poweroff\r")
    assert machine.status(60) == 0
