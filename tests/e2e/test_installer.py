# SPDX-License-Identifier: Apache-2.0
"""
Debian's installer in a VM (docs/guests.md), with a network and a disk of the machine: its dialogs, DHCP, and a request
to a mirror, for which a web server of the host stands.
"""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from helpers import BOOT_S, booted, built
from host_network import LOOPBACK

from tessera.run.machine import Machine

pytestmark = pytest.mark.long

HOST = "10.0.2.254"
DISK_BYTES = 4 << 30
STEP_S = 3 * BOOT_S  # hardware detection loads some hundred modules


class Mirror(ThreadingHTTPServer):
    """A mirror without packages: it records what is asked for."""

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), _Refusal)
        self.asked: list[str] = []
        self.heard = threading.Event()


class _Refusal(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.heard.set()
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def mirror() -> Iterator[Mirror]:
    server = Mirror()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Iterator[Machine]:
    system = built("installer")
    disk = tmp_path_factory.mktemp("disk") / "disk.img"
    with disk.open("wb") as file:
        file.truncate(DISK_BYTES)
    arguments = system.data["qemu"]["arguments"]
    arguments[:] = [re.sub(r"file=\S*/installer-disk\.img$", f"file={disk}", word) for word in arguments]
    with booted(system, "installer") as machine:
        machine.console.shared = True  # its lines have a name, although there is one VM only
        yield machine


def answer(machine: Machine, question: str, text: str) -> None:
    """Waits for a question of the text frontend, and answers it."""
    machine.expect("installer", question, STEP_S)
    machine.expect("installer", r"Prompt: .*> ", BOOT_S)
    machine.send(f"{text}\r")


def test_language(machine):
    """The first dialog."""
    answer(machine, r"^Select a language$", "2")


def test_network_by_dhcp_reaches_a_mirror(machine, mirror):
    """The installer configures the network by itself, then asks for a mirror, and looks there for Debian."""
    answer(machine, r"Debian archive mirror hostname:", f"{HOST}:{mirror.server_port}")
    answer(machine, r"Debian archive mirror directory:", "/debian/")
    answer(machine, r"HTTP proxy information", "")
    assert mirror.heard.wait(STEP_S)
    assert mirror.asked[0].startswith("/debian/dists/"), mirror.asked
