# SPDX-License-Identifier: Apache-2.0
"""The host's end of networks that QEMU emulates: servers for guests, and connections to forwarded ports."""

import copy
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from helpers import BOOT_S, SOON_S

from tessera.run.runner import BuiltSystem

LOOPBACK = "127.0.0.1"


def with_free_ports(system: BuiltSystem) -> BuiltSystem:
    """The system with any free ports of the host instead of those of its file."""
    system = copy.deepcopy(system)
    arguments = system.data["qemu"]["arguments"]
    arguments[:] = [re.sub(rf"hostfwd=tcp:{LOOPBACK}:\d+-", f"hostfwd=tcp:{LOOPBACK}:0-", word) for word in arguments]
    return system


def listening(pid: int) -> list[int]:
    """The TCP ports on which a process listens (state 0A)."""
    links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links]


def services(pid: int) -> list[tuple[str, int]]:
    """The services of guests behind QEMU's ports, "ssh" or "http": an SSH server speaks first."""
    found = []
    for port in listening(pid):
        with socket.create_connection((LOOPBACK, port)) as connection:
            connection.settimeout(SOON_S)
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            found.append(("ssh" if connection.recv(4) == b"SSH-" else "http", port))
    return found


def ssh(port: int, command: str, data: bytes = b"") -> bytes:
    """Runs a command in a guest, by its forwarded port."""
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes", f"ConnectTimeout={BOOT_S}"]
    words = ["ssh", "-F", "none", *(word for option in options for word in ("-o", option))]
    words += ["-p", str(port), f"root@{LOOPBACK}", command]
    done = subprocess.run(words, input=data, capture_output=True, timeout=2 * BOOT_S, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class _Quiet(SimpleHTTPRequestHandler):
    """A server that does not print its requests."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web_server(folder: Path) -> Iterator[int]:
    """A web server of the host with the files of a folder; its port."""
    server = ThreadingHTTPServer((LOOPBACK, 0), partial(_Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
