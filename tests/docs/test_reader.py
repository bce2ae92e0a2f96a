# SPDX-License-Identifier: Apache-2.0
"""The comparison of a document's output with the actual one can fail."""

import pytest
from reader import commands, missing

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


def test_commands_have_no_comments():
    block = Block("a.md", 1, "sh", "$ make run   # a comment\n\nmake test\n", 0, {})
    assert commands(block) == ["make run", "make test"]
