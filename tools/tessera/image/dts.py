# SPDX-License-Identifier: Apache-2.0
"""Pieces of device-tree sources."""

import re


def node(name: str, body: list[str]) -> list[str]:
    """Returns the lines of a node."""
    return [name + " {", *("\t" + line if line else "" for line in body), "};"]


def cells(*numbers: int) -> str:
    return "<" + " ".join(f"{number:#x}" for number in numbers) + ">"


def wide(number: int) -> tuple[int, int]:
    return number >> 32, number & 0xFFFFFFFF


def reg(base: int, size: int) -> str:
    return cells(*wide(base), *wide(size))


def string(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
