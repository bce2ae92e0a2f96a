# SPDX-License-Identifier: Apache-2.0
"""docs/trace.md and docs/debugging.md: traces, the session with GDB, and the server."""

import re
import stat
import time

import pexpect
from reader import BOOT_S, commands, environment, leave, missing

PROMPT = "(gdb) "


def test_trace(blocks, reader):
    """Each command leaves a trace and a picture."""
    for line in commands(blocks[0]):
        system = re.search(r"SYSTEM=(\w+)", line)[1]
        made = [reader.tree / "build" / "trace" / f"{system}.{kind}" for kind in ("perfetto-trace", "png", "svg")]
        for path in made:
            path.unlink(missing_ok=True)
        reader.run(line)
        assert all(path.stat().st_size > 1000 for path in made), made


def gdb(line: str, cwd) -> pexpect.spawn:
    child = pexpect.spawn(
        "bash",
        ["-c", f"exec {line}"],
        cwd=str(cwd),
        env=environment(),
        timeout=BOOT_S,
        dimensions=(500, 200),
        encoding="utf-8",
    )
    child.delaybeforesend = None
    return child


def test_debug_session(blocks, reader):
    """Types what follows each prompt of the transcript; each answer has the transcript's lines."""
    transcript = blocks[0]
    start, *turns = transcript.text.split(PROMPT)
    run, _, greeting = start.removeprefix("$ ").partition("\n")
    child = gdb(run, reader.tree)
    try:
        child.expect_exact(PROMPT)
        line = missing(greeting, transcript.varies, child.before)
        assert line is None, f"{line}\n{child.before}"
        for turn in turns:
            typed, _, expected = turn.partition("\n")
            child.sendline(typed)
            if "^C" in expected:
                child.expect_exact("Continuing.")
                said = child.before + child.after
                time.sleep(1)
                child.sendintr()
            else:
                said = ""
            child.expect_exact(PROMPT)
            said += child.before
            line = missing(expected, transcript.varies, said)
            assert line is None, f"{transcript.document}: (gdb) {typed}: no line\n{line}\nin\n{said}"
    finally:
        child.close(force=True)


def test_debug_server(blocks, reader):
    """The first command is that of the session above; a GDB connects to the server of the second."""
    debug, server = commands(blocks[0])
    assert debug == "make debug VM=freertos"
    with reader.terminal(server) as shown:
        shown.until(r"^linux *\|.*linux is up", BOOT_S)
        place = "build/debug/demo.gdb"
        assert stat.S_IMODE((reader.tree / place).stat().st_mode) == 0o600
        connect = f"-ex 'set remotetimeout 60' -ex 'target extended-remote {place}' -ex 'monitor status' -ex detach"
        said = reader.run(f"gdb-multiarch -nx -batch {connect}")
        assert re.search(r"^running, halted, started 1 times", said, re.MULTILINE), said
        leave(shown)


def test_without_debugger(blocks, reader):
    reader.run(commands(blocks[0])[0])
    assert not reader.links("services/debug") and reader.links("services/console")
