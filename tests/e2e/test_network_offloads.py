# SPDX-License-Identifier: Apache-2.0
"""Two Linux VMs on a network with offloads (docs/networking.md): the segments of Debian's drivers arrive whole."""

import re

import pytest
from helpers import BOOT_S, LINUX_PROMPT, booted, built, command, tell, wait_for_signs_of_life

from tessera.run.machine import HYPERVISOR, Machine

BYTES = 4 << 20  # of the file
FRAME = 1500  # the longest packet without offloads
SERVER = "192.168.80.2"  # west


def ask(machine: Machine, name: str, line: str, answer: str) -> re.Match[str]:
    tell(machine, name, line)
    found = machine.expect(name, answer, BOOT_S)
    machine.expect(name, LINUX_PROMPT, BOOT_S)
    return found


@pytest.mark.long
def test_a_file_in_segments():
    """The file has its checksum, and needs fewer frames than it has packets."""
    system = built("bench-network")
    with booted(system, "network-offloads") as machine:
        wait_for_signs_of_life(machine, system)
        for name in ("east", "west"):
            machine.expect(name, LINUX_PROMPT, BOOT_S)
        ask(machine, "west", f"head -c {BYTES} /dev/urandom >/tmp/www/file", r"")
        ask(machine, "east", f"wget -qO /tmp/got http://{SERVER}/file; echo status $?", r"^status 0$")
        ask(machine, "east", "wc -c </tmp/got", rf"^{BYTES}$")
        sums = [
            ask(machine, name, f"sha256sum </tmp/{file}", r"^([0-9a-f]{64})  -$")[1]
            for name, file in (("west", "www/file"), ("east", "got"))
        ]
        command(machine, "p")
        sent, received, malformed = map(
            int, machine.expect(HYPERVISOR, r"^west +0 +(\d+) +(\d+) .* (\d+)$", BOOT_S).groups()
        )
    assert sums[0] == sums[1]
    assert received > 0
    assert sent < BYTES / FRAME  # how long TCP's segments are depends on the host's load
    assert malformed == 0
