# SPDX-License-Identifier: Apache-2.0
"""virtio-crypto whose blocks the fabric's AES computes (docs/networking.md), beside the fabric's model."""

import pytest
from helpers import BOOT_S, LINUX_PROMPT, SOON_S, VIRTUAL, ask, booted, built, command, keyboard

from tessera.run.machine import HYPERVISOR


@pytest.mark.parametrize("restarts", [1, pytest.param(3, marks=pytest.mark.long)])
def test_unit_taken_away_and_restarted(restarts: int):
    """The guest compares each result with that of a function without a unit; it does not see the device. Another VM
    takes the region again and again, and the operator restarts the VM while it computes."""
    system = built("crypto-unit")
    with booted(system, "crypto-unit", *VIRTUAL) as machine:
        machine.expect("both", r"crypto: load faults, store faults, device not found", BOOT_S)
        machine.expect("both", r"crypto: 20 requests, 0 wrong", BOOT_S)
        machine.expect("watcher", r"^both +aes128 +0 .* [1-9]\d* +0$", SOON_S)  # losses, no faults
        keyboard(machine, "both")
        for _ in range(restarts):
            command(machine, "r")
            machine.expect(HYPERVISOR, r"both stopped by the console, starts again", SOON_S)
            machine.expect("both", r"crypto: 10 requests, 0 wrong", SOON_S)
        command(machine, "s")
        machine.expect(HYPERVISOR, r"both stopped by the console$", SOON_S)
        machine.skip("watcher")
        for _ in range(2):  # the unit is as after power-on, also in the second table after the stop
            machine.expect("watcher", r"^both +aes128 +0 +- +0 +0 +0 +0 +0 +0 +0$", SOON_S)
        assert "error: " not in machine.console.text(HYPERVISOR)
        machine.skip("thief")
        machine.expect("thief", r"accel: job \d+, 0 wrong", SOON_S)


DEVICE_CIPHER, KERNEL_CIPHER = "virtio_crypto_aes_cbc", "cbc(aes-generic)"
KEY = "2b7e151628aed2a6abf7158809cf4f3c"


def aes(cipher: str, what: str, source: str, result: str) -> str:
    """A command that has a cipher of the kernel encrypt or decrypt a file."""
    return f"aes {what} '{cipher}' {KEY} {bytes(range(16)).hex()} <{source} >{result}; echo status $?"


@pytest.mark.long  # Linux on a virtio-crypto without a unit: test_network.py
def test_linux_uses_the_unit():
    """Debian's driver passes the kernel's self-tests. The result is that of the kernel's own cipher, and each decrypts
    the other one's."""
    system = built("crypto-linux")
    with booted(system, "crypto-linux", *VIRTUAL) as machine:
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        passed = r"^driver +: virtio_crypto_aes_cbc\n(?s:.*)^selftest +: passed\n"
        ask(machine, f"grep -A 20 {DEVICE_CIPHER} /proc/crypto | head -n 11", passed)
        assert "alg: " not in machine.console.text("linux")
        ask(machine, "head -c 200000 /dev/urandom >/tmp/plain; wc -c </tmp/plain", r"^200000$")
        ask(machine, aes(DEVICE_CIPHER, "encrypt", "/tmp/plain", "/tmp/device"), r"^status 0$")
        ask(machine, aes(KERNEL_CIPHER, "encrypt", "/tmp/plain", "/tmp/kernel"), r"^status 0$")
        ask(machine, "cmp /tmp/device /tmp/kernel; echo same $?", r"^same 0$")
        ask(machine, aes(DEVICE_CIPHER, "decrypt", "/tmp/kernel", "/tmp/back"), r"^status 0$")
        ask(machine, "cmp /tmp/back /tmp/plain; echo same $?", r"^same 0$")
        # The region was configured for it, and there was no fault.
        machine.expect("watcher", r"^linux +aes128 +0 +\S+ +\d+ +[1-9]\d* .* 0$", SOON_S)
