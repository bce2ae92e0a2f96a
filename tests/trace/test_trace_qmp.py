# SPDX-License-Identifier: Apache-2.0
"""The connection to QEMU's QMP socket when QEMU ends (tessera.trace.take)."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tessera.trace.ring import TraceError
from tessera.trace.take import Qmp


def answer_once(connection: socket.socket) -> None:
    """The greeting, and the answer to the first request."""
    connection.sendall(b'{"QMP": {}}\n')
    connection.recv(4096)
    connection.sendall(b'{"return": {}}\n')


def ends_before_the_greeting(connection: socket.socket) -> None:
    del connection


def ends_with_an_unread_request(connection: socket.socket) -> None:
    answer_once(connection)
    connection.recv(1)


def ends_after_a_request(connection: socket.socket) -> None:
    answer_once(connection)
    connection.recv(4096)


def ends_between_requests(connection: socket.socket) -> None:
    answer_once(connection)


@contextlib.contextmanager
def qemu_that(behaviour: Callable[[socket.socket], None], folder: Path) -> Iterator[Path]:
    """A thread with QEMU's side of a connection; returns the socket's path."""
    path = folder / "qmp"

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            behaviour(connection)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        thread.join()


@pytest.mark.parametrize(
    "behaviour", [ends_before_the_greeting, ends_with_an_unread_request, ends_after_a_request, ends_between_requests]
)
def test_end_of_qemu(behaviour: Callable[[socket.socket], None], tmp_path: Path) -> None:
    with qemu_that(behaviour, tmp_path) as path, pytest.raises(TraceError, match="QEMU has ended"):
        Qmp(path).ask("stop")


def answers_and_ends(connection: socket.socket) -> None:
    answer_once(connection)
    assert b'"quit"' in connection.recv(4096)
    connection.sendall(b'{"return": {}}\n{"event": "SHUTDOWN"}\n')


@pytest.mark.parametrize(
    "behaviour", [answers_and_ends, ends_with_an_unread_request, ends_after_a_request, ends_between_requests]
)
def test_quit(behaviour: Callable[[socket.socket], None], tmp_path: Path) -> None:
    """QEMU may end before it answers."""
    with qemu_that(behaviour, tmp_path) as path:
        Qmp(path).quit()
