# SPDX-License-Identifier: Apache-2.0
"""The comparison of a document's output with the actual one can fail."""

import pytest
from reader import commands, missing, type_turns
from terminal import Terminal

from check.tutorials import Block

OUTPUT = "first | 12 jobs, 0 late\nother\nsecond |  3.5 s\n"


@pytest.mark.parametrize(
    ("expected", "varies", "line"),
    [
        ("first | 12 jobs, 0 late\nsecond | 3.5 s\n", [], None),
        ("first | 99 jobs, 0 late\n", [r"\d{2,}"], None),
        ("...\nsecond | 9.9 s\n...\n", [r"\d+\.\d"], None),
        ("first | 99 jobs, 0 late\n", [], "first | 99 jobs, 0 late"),
        ("first | 99 jobs, 1 late\n", [r"\d{2,}"], "first | 99 jobs, 1 late"),
        ("second | 3.5 s\nother\n", [], "other"),
        ("first\n", [], "first"),
    ],
)
def test_output_is_compared(expected, varies, line):
    assert missing(expected, varies, OUTPUT) == line


def test_turns_of_a_transcript():
    """Each turn has the rows of its own VM, from the typed line on."""
    shown = [b"linux | booted\r\nlinux | linux:~# "]

    def write(keys):
        line = keys.decode().removesuffix("\r")
        shown.append(f"{line}\r\nother | ok 9\r\nlinux | ok {len(line)}\r\nlinux | linux:~# ".encode())

    terminal = Terminal(lambda seconds: shown.pop(0), write)
    terminal.update(0)
    transcript = "linux:~# one\nok 3\n...\nlinux:~# three\nok 5\n"
    assert list(type_turns(terminal, "linux", transcript)) == [
        ("ok 3\n...\n", ["linux:~# one", "ok 3", "linux:~#"]),
        ("ok 5\n", ["linux:~# three", "ok 5", "linux:~#"]),
    ]


def test_commands_have_no_comments():
    block = Block("a.md", 1, "sh", "$ make run   # a comment\n\nmake test\n", 0, {})
    assert commands(block) == ["make run", "make test"]
