# SPDX-License-Identifier: Apache-2.0
"""
Reads C headers: the values of their constants, and the fields of their structures. The headers define
what programs in C and in Python exchange, such as the system image; no value and no field is repeated in Python.

Understood are `#define` and enumerators of integer values, `#ifndef`, and structures without padding of
integers of a fixed size, of characters, of other such structures, and of arrays of them. Everything else
is refused with its line, except what defines no value: #include, static assertions and inline functions.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]

_CODES = {"char": "s", "uint8_t": "s", "uint16_t": "H", "uint32_t": "I", "uint64_t": "Q"}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TOKEN = re.compile(r"\s+|(?P<token>[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|\"[^\"\n]*\"|<<|>>|->|&&|.)")
# Binary operators with their precedence and meaning. Division is that of numbers that are not negative.
_OPERATORS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "|": (1, lambda a, b: a | b),
    "^": (2, lambda a, b: a ^ b),
    "&": (3, lambda a, b: a & b),
    "<<": (4, lambda a, b: a << b),
    ">>": (4, lambda a, b: a >> b),
    "+": (5, lambda a, b: a + b),
    "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b),
    "/": (6, lambda a, b: a // b),
    "%": (6, lambda a, b: a % b),
}
_UNARY: dict[str, Callable[[int], int]] = {"-": lambda a: -a, "~": lambda a: ~a, "UINT64_C": lambda a: a}
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*")
_CLOSING = {"(": ")", "{": "}"}


class HeaderError(Exception):
    """A header has something that is not understood; the text names file and line."""


@dataclass(frozen=True)
class Record:
    """
    A C structure without padding: fields of `struct` format codes. An array of characters or bytes is one field of
    bytes; elements of other arrays are fields `name[0]`, `name[1]` ..., and the fields of a structure in the
    structure are fields `name.field`.
    """

    name: str
    fields: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        return struct.calcsize(self._format())

    @property
    def has_padding(self) -> bool:
        """Whether a C compiler would align a field, or the end, by bytes that are no field."""
        places = [(self.offset(name), struct.calcsize(code)) for name, code in self.fields if code[-1] != "s"]
        places.append((self.size, max((size for _, size in places), default=1)))
        return any(at % size for at, size in places)

    def offset(self, field: str) -> int:
        index = [name for name, _ in self.fields].index(field)
        return struct.calcsize("<" + "".join(code for _, code in self.fields[:index]))

    def pack(self, **values: int | bytes) -> bytes:
        """Returns the record's bytes; every field must be given."""
        if set(values) != {name for name, _ in self.fields}:
            wrong = sorted(set(values) ^ {name for name, _ in self.fields})
            raise ValueError(f"{self.name}: fields {wrong} are missing or unknown")
        return struct.pack(self._format(), *(values[name] for name, _ in self.fields))

    def zeros(self) -> dict[str, int | bytes]:
        """Returns the values of a record of zeros."""
        return self.unpack(bytes(self.size))

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, int | bytes]:
        values = struct.unpack_from(self._format(), data, offset)
        return dict(zip((name for name, _ in self.fields), values, strict=True))

    def _format(self) -> str:
        return "<" + "".join(code for _, code in self.fields)


@dataclass(frozen=True)
class Header:
    """
    A header. `constants` are its macros and its enumerators, by their names; `enums` are the enumerators of each
    enum, `records` the structures.
    """

    file: str
    constants: dict[str, int]
    enums: dict[str, dict[str, int]]
    records: dict[str, Record]

    def constant(self, *names: str) -> int:
        """Returns the first constant that the header has. Raises AttributeError, for the attributes of modules."""
        for name in names:
            if name in self.constants:
                return self.constants[name]
        raise AttributeError(f"no constant {' or '.join(names)} in {self.file}")

    def numbered(self, prefix: str, enum: str | None = None) -> dict[str, int]:
        """Returns the constants with the prefix, of the enum if one is given, by the rest of their names in lower
        case."""
        there = self.enums[enum] if enum else self.constants
        return {name.removeprefix(prefix).lower(): value for name, value in there.items() if name.startswith(prefix)}


@cache
def read_header(path: str) -> Header:
    """Reads a header of the repository."""
    return parse_header((ROOT / path).read_text(encoding="utf-8"), path)


def parse_header(text: str, file: str) -> Header:
    """Reads the text of a header. Raises HeaderError."""
    source = _Source(text, file)
    return _Declarations(source).header()


@dataclass(frozen=True)
class _Token:
    text: str
    line: int


class _Source:
    """The text of a header divided into macros and the tokens of declarations."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.macros: dict[str, list[_Token]] = {}
        self.tokens: list[_Token] = []
        self._skipping: list[bool] = []  # for each #ifndef around the line: its lines are not compiled
        blank = _COMMENT.sub(lambda found: " " + "\n" * found[0].count("\n"), text)
        while "\\\n" in blank:
            blank = re.sub(r"\\\n(.*)", r"\1\n", blank)
        for number, line in enumerate(blank.split("\n"), 1):
            if line.lstrip().startswith("#"):
                self._directive(line.strip(), number)
            elif not any(self._skipping):
                self.tokens += self._split(line, number)
        if self._skipping:
            self.refuse(number, "#ifndef without #endif")

    def refuse(self, line: int, what: str) -> NoReturn:
        raise HeaderError(f"{self.file}:{line}: not understood: {what}")

    def _split(self, text: str, line: int) -> list[_Token]:
        return [_Token(found["token"], line) for found in _TOKEN.finditer(text) if found["token"]]

    def _directive(self, text: str, line: int) -> None:
        define = re.fullmatch(r"#define (\w+)(?:[ \t]+(.+))?", text)
        condition = re.fullmatch(r"#ifndef (\w+)", text)
        if condition:
            self._skipping.append(condition[1] in self.macros)
        elif text == "#endif" and self._skipping:
            self._skipping.pop()
        elif any(self._skipping) or re.fullmatch(r'#include ["<].*[">]', text):
            pass
        elif define and define[1] not in self.macros:
            self.macros[define[1]] = self._split(define[2] or "", line)
        else:
            self.refuse(line, text)


class _Declarations:
    """The declarations of a header, from first to last, and the values of macros."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._tokens = source.tokens
        self._at = 0
        self._enumerators: dict[str, int] = {}
        self._enums: dict[str, dict[str, int]] = {}
        self._records: dict[str, Record] = {}

    def header(self) -> Header:
        while self._at < len(self._tokens):
            self._declaration()
        macros = {name: self._macro(name, ()) for name, tokens in self._source.macros.items() if tokens}
        return Header(self._source.file, macros | self._enumerators, self._enums, self._records)

    # Tokens

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        """Returns the next token, which must be one of those wanted if any are given."""
        text = self._peek()
        if not text or (wanted and text not in wanted):
            self._refuse()
        self._at += 1
        return text

    def _name(self) -> str:
        text = self._take()
        if not re.fullmatch(r"[A-Za-z_]\w*", text):
            self._at -= 1
            self._refuse()
        return text

    def _refuse(self) -> NoReturn:
        if self._at >= len(self._tokens):
            self._source.refuse(self._tokens[-1].line, "the end of the file")
        line = self._tokens[self._at].line
        words = [token.text for token in self._tokens[self._at :] if token.line == line]
        self._source.refuse(line, " ".join(words))

    def _skip(self, opening: str) -> None:
        """Skips all up to the bracket that closes the next one."""
        while self._take() != opening:
            pass
        depth = 1
        while depth:
            depth += {opening: 1, _CLOSING[opening]: -1}.get(self._take(), 0)

    # Declarations

    def _declaration(self) -> None:
        start = self._take("struct", "enum", "static", "_Static_assert")
        if start == "static":
            self._take("inline")
            self._skip("{")
            return
        if start == "_Static_assert":
            self._skip("(")
        elif start == "enum":
            self._enum(self._name())
        else:
            self._struct(self._name())
        self._take(";")

    def _enum(self, name: str) -> None:
        self._enums[name] = {}
        self._take("{")
        value = 0
        while self._peek() != "}":
            enumerator = self._name()
            if self._peek() == "=":
                self._take()
                value = self._value({",", "}"})
            self._enums[name][enumerator] = self._enumerators[enumerator] = value
            value += 1
            if self._take(",", "}") == "}":
                return
        self._take("}")

    def _struct(self, name: str) -> None:
        line = self._tokens[self._at].line if self._at < len(self._tokens) else 0
        fields: list[tuple[str, str]] = []
        self._take("{")
        while self._peek() != "}":
            kind = self._kind()
            while True:
                fields += self._field(kind)
                if self._take(",", ";") == ";":
                    break
        self._take("}")
        record = Record(name, tuple(fields))
        if record.has_padding:
            self._source.refuse(line, f"padding in struct {name}")
        self._records[name] = record

    def _kind(self) -> str | Record:
        """Returns the `struct` code of the next type, or the record that it is."""
        if self._peek() != "struct":
            return _CODES[self._take(*_CODES)]
        self._take()
        if self._peek() not in self._records:
            self._refuse()
        return self._records[self._take()]

    def _field(self, kind: str | Record) -> list[tuple[str, str]]:
        name, count = self._name(), None
        if self._peek() == "[":
            self._take()
            count = self._value({"]"})
            self._take("]")
        if kind == "s":
            return [(name, f"{1 if count is None else count}s")]
        names = [name] if count is None else [f"{name}[{index}]" for index in range(count)]
        if isinstance(kind, str):
            return [(one, kind) for one in names]
        return [(f"{one}.{field}", code) for one in names for field, code in kind.fields]

    # Values

    def _value(self, ends: set[str]) -> int:
        start = self._at
        while self._peek() not in ends:
            self._take()
        if start == self._at:
            self._refuse()
        return self._evaluated(self._tokens[start : self._at], ())

    def _macro(self, name: str, within: tuple[str, ...]) -> int:
        """Returns the value of a macro, which the value of the macros `within` needs."""
        tokens = self._source.macros[name]
        if name in within:
            self._source.refuse(tokens[0].line, f"{name}, whose value is {name}")
        return self._evaluated(tokens, (*within, name))

    def _evaluated(self, tokens: list[_Token], within: tuple[str, ...]) -> int:
        def lookup(name: str) -> int | None:
            if self._source.macros.get(name):
                return self._macro(name, within)
            return self._enumerators.get(name)

        value = _Expression([token.text for token in tokens], lookup).value()
        if value is None:
            self._source.refuse(tokens[0].line, " ".join(token.text for token in tokens))
        return value


class _Expression:
    """An expression of integers; `lookup` returns the value of a name."""

    def __init__(self, tokens: list[str], lookup: Callable[[str], int | None]) -> None:
        self._left = tokens[::-1]
        self._lookup = lookup

    def value(self) -> int | None:
        """Returns the value, None for what is no such expression."""
        try:
            value = self._binary(1)
        except (IndexError, ValueError, ZeroDivisionError):
            return None
        return None if self._left else value

    def _binary(self, least: int) -> int:
        value = self._operand()
        while self._left and self._left[-1] in _OPERATORS:
            precedence, apply = _OPERATORS[self._left[-1]]
            if precedence < least:
                break
            self._left.pop()
            value = apply(value, self._binary(precedence + 1))
        return value

    def _operand(self) -> int:
        text = self._left.pop()
        if text in _UNARY:
            return _UNARY[text](self._operand())
        if text == "(":
            value = self._binary(1)
            if self._left.pop() != ")":
                raise ValueError
            return value
        if _NUMBER.fullmatch(text):
            return int(text.rstrip("uUlL"), 0)
        known = self._lookup(text)
        if known is None:
            raise ValueError
        return known
