# SPDX-License-Identifier: Apache-2.0
"""
`make run` of an M5150 system at a terminal: keys arrive without Enter, and the terminal's mode is
restored.
"""

import os
import pty
import select
import subprocess
import sys
import termios

from conftest import build

from tessera.run.hosttime import Limit
from tessera.run.runner import ROOT

SOON_S = 30.0


def read_until(terminal: int, words: str) -> str:
    """The terminal's output up to the words."""
    shown, limit = "", Limit(os.getpid(), SOON_S)
    while words not in shown and limit.left() > 0:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode("latin-1")
    limit.raise_if_too_slow("the test")
    assert words in shown, f"{shown[-2000:]} ({limit.words('the test')})"
    return shown


def test_keys_arrive_without_enter() -> None:
    name = f"../build/mips/{build('m5150', 'm5150').name.rpartition('/')[2]}"
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    command = [sys.executable, str(ROOT / "tools" / "run.py"), "run", "--system", name]
    run = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT)
    try:
        read_until(ours, "rtm: 4 apps run")
        os.write(ours, b"\x14h")
        read_until(ours, "this help")
        os.write(ours, b"\x142")
        assert "\x14" not in read_until(ours, "keyboard: rtm"), "the terminal echoes keys"
        os.write(ours, b"list\r")
        read_until(ours, "app 0, ")
        os.write(ours, b"\x03\x14q")
        assert run.wait(SOON_S) == 0, "Ctrl-C is passed to the system"
        assert termios.tcgetattr(theirs) == before
    finally:
        run.kill()
        run.wait()
        os.close(ours)
        os.close(theirs)
