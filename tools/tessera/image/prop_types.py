# SPDX-License-Identifier: Apache-2.0
"""The kinds of values that a property may have: each reads a parsed property and describes the
expected values."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from devicetree import dtlib


class MismatchError(Exception):
    """A value that is not the expected one; the message names both."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")


class Kind(Protocol):
    """Reads one property."""

    def read(self, prop: dtlib.Property) -> Any:
        """Returns the property's value. Raises MismatchError."""

    def describe(self) -> str:
        """Returns the expected values as a phrase, for messages and for the reference."""


def suggest(word: str, known: Sequence[str]) -> str:
    """Returns ' (did you mean "x"?)' if one of `known` is close to `word`, else an empty string."""
    close = difflib.get_close_matches(word, known, n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def spell(prop: dtlib.Property) -> str:
    """Returns the value as it would be written in a source, on one line."""
    if prop.type == dtlib.Type.EMPTY:
        return "no value"
    text = str(prop).partition("=")[2].strip().removesuffix(";").replace("< ", "<").replace(" >", ">")
    return text if len(text) <= 60 else text[:57] + "..."


def size_text(size: int) -> str:
    """Returns a size in the largest unit of which it is a multiple."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size and size % (1 << bits) == 0:
            return f"{size >> bits} {unit}"
    return f"{size} bytes"


@dataclass(frozen=True)
class Number:
    """A number: one cell, two cells (high, low), or /bits/ 64."""

    low: int
    high: int
    step: int = 1

    def read(self, prop: dtlib.Property) -> int:
        value = number_of(prop)
        if value is None:
            raise MismatchError(self.describe(), spell(prop))
        if not self.low <= value <= self.high or value % self.step != 0:
            raise MismatchError(self.describe(), str(value))
        return value

    def describe(self) -> str:
        which = "a number" if self.step == 1 else f"a multiple of {self.step}"
        return f"{which} from {self.low} to {self.high}"


@dataclass(frozen=True)
class Power:
    """A power of two, written like a Number."""

    low: int
    high: int

    def read(self, prop: dtlib.Property) -> int:
        value = number_of(prop)
        if value is None:
            raise MismatchError(self.describe(), spell(prop))
        if not self.low <= value <= self.high or value & (value - 1):
            raise MismatchError(self.describe(), str(value))
        return value

    def describe(self) -> str:
        return f"a power of two from {self.low} to {self.high}"


@dataclass(frozen=True)
class Mac:
    """The MAC address of one station: six bytes."""

    def read(self, prop: dtlib.Property) -> bytes:
        value = bytes(prop.value)
        if prop.type != dtlib.Type.BYTES or len(value) != 6:
            raise MismatchError(self.describe(), spell(prop))
        if not any(value) or value[0] & 1:  # this bit marks the address of a group
            raise MismatchError(self.describe(), f"[{value.hex(' ')}]")
        return value

    def describe(self) -> str:
        return "a MAC address like [02 00 00 00 00 01], six bytes, not that of a group and not zero"


@dataclass(frozen=True)
class Numbers:
    """A list of one-cell numbers: `count` of them, or any number, different ones unless `repeats`."""

    what: str
    low: int
    high: int
    count: int | None = None
    repeats: bool = False

    def read(self, prop: dtlib.Property) -> tuple[int, ...]:
        if prop.type not in (dtlib.Type.NUM, dtlib.Type.NUMS) or len(prop.value) % 4:
            raise MismatchError(self.describe(), spell(prop))
        values = tuple(int.from_bytes(prop.value[at : at + 4], "big") for at in range(0, len(prop.value), 4))
        if self.count is not None and len(values) != self.count:
            raise MismatchError(self.describe(), spell(prop))
        for index, value in enumerate(values):
            if not self.low <= value <= self.high:
                raise MismatchError(self.describe(), str(value))
            if self._is_different() and value in values[:index]:
                raise MismatchError(self.describe(), f"{value} twice")
        return values

    def _is_different(self) -> bool:
        return self.count is None and not self.repeats

    def describe(self) -> str:
        which = "a list of" if self.count is None else str(self.count)
        different = "different " if self._is_different() else ""
        return f"{which} {different}{self.what} from {self.low} to {self.high}"


@dataclass(frozen=True)
class Address:
    """An address or a size in bytes, written like a Number."""

    what: str = "an address"
    align: int = 1
    low: int = 0
    below: int = 1 << 41  # guest-physical addresses of Sv39x4 have 41 bits

    def read(self, prop: dtlib.Property) -> int:
        value = number_of(prop)
        if value is None:
            raise MismatchError(self.describe(), spell(prop))
        if value % self.align or not self.low <= value < self.below:
            raise MismatchError(self.describe(), f"{value:#x}")
        return value

    def describe(self) -> str:
        aligned = f" that is a multiple of {size_text(self.align)}" if self.align > 1 else ""
        least = f", {size_text(self.low)} or more" if self.low else ""
        return f"{self.what}{aligned}{least}, below {self.below:#x}"


def number_of(prop: dtlib.Property) -> int | None:
    """Returns the number that `prop` holds in any of the three notations, None if it holds
    something else."""
    one_or_two_cells = prop.type in (dtlib.Type.NUM, dtlib.Type.NUMS) and len(prop.value) in (4, 8)
    kinds = [marker[1] for marker in prop._markers]
    if one_or_two_cells or (kinds == [dtlib._MarkerType.UINT64] and len(prop.value) == 8):
        return int.from_bytes(prop.value, "big")
    return None


@dataclass(frozen=True)
class Text:
    """One string of printable ASCII; with `joined` also several strings, which are joined by
    blanks."""

    longest: int
    pattern: str = ""
    pattern_words: str = ""
    joined: bool = False

    def read(self, prop: dtlib.Property) -> str:
        if prop.type != dtlib.Type.STRING and not (self.joined and prop.type == dtlib.Type.STRINGS):
            raise MismatchError(self.describe(), spell(prop))
        value = prop.value[:-1].decode("utf-8", "replace").replace("\0", " ")
        if not 1 <= len(value) <= self.longest:
            raise MismatchError(self.describe(), f"{len(value)} characters")
        if not (value.isascii() and value.isprintable()) or (self.pattern and not re.fullmatch(self.pattern, value)):
            raise MismatchError(self.describe(), spell(prop))
        return value

    def describe(self) -> str:
        what = "a string, or several to be joined by blanks," if self.joined else "a string"
        return f"{what} of 1 to {self.longest} {self.pattern_words or 'printable ASCII characters'}"


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, prop: dtlib.Property) -> str:
        if prop.type != dtlib.Type.STRING:
            raise MismatchError(self.describe(), spell(prop))
        value = prop.value[:-1].decode("utf-8", "replace")
        if value not in self.words:
            raise MismatchError(self.describe(), spell(prop) + suggest(value, self.words))
        return value

    def describe(self) -> str:
        if len(self.words) == 1:
            return f'"{self.words[0]}"'
        return "one of " + ", ".join(f'"{word}"' for word in self.words)


@dataclass(frozen=True)
class Words:
    """A list of strings: out of `words` if these are given, all different unless `repeats`."""

    what: str
    words: tuple[str, ...] = ()
    may_be_empty: bool = False
    repeats: bool = False

    def read(self, prop: dtlib.Property) -> tuple[str, ...]:
        if self.may_be_empty and prop.type == dtlib.Type.EMPTY:
            return ()
        if prop.type not in (dtlib.Type.STRING, dtlib.Type.STRINGS):
            raise MismatchError(self.describe(), spell(prop))
        values = prop.value.decode("utf-8", "replace").split("\0")[:-1]
        for index, value in enumerate(values):
            if self.words and value not in self.words:
                raise MismatchError(self.describe(), f'"{value}"' + suggest(value, self.words))
            if value in values[:index] and not self.repeats:
                raise MismatchError(self.describe(), f'"{value}" twice')
        return tuple(values)

    def describe(self) -> str:
        of = " out of " + ", ".join(f'"{word}"' for word in self.words) if self.words else ""
        empty = " or no value for none" if self.may_be_empty else ""
        different = "" if self.repeats else "different "
        return f"a list of {different}{self.what}{of}{empty}"


@dataclass(frozen=True)
class Flag:
    """A property without a value: true if the source sets it."""

    def read(self, prop: dtlib.Property) -> bool:
        if prop.type != dtlib.Type.EMPTY:
            raise MismatchError(self.describe(), spell(prop))
        return True

    def describe(self) -> str:
        return "no value (the property's presence says yes)"
