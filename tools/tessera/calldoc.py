# SPDX-License-Identifier: Apache-2.0
"""Writes docs/hypercalls.md from the comments of abi/*_abi.h, whose form abi/hypercall_abi.h describes. Run as
`python -m tessera.calldoc > docs/hypercalls.md`."""

import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ABI = Path(__file__).resolve().parents[2] / "abi"
HEADERS = ("hypercall_abi.h", "rt_abi.h", "ipc_abi.h", "accel_abi.h")  # first in the document; then all others
WIDTH = 120

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made from the comments of abi/*_abi.h by `make docs`; do not edit. -->
# Hypercalls

A hypercall is an `ecall` with `a7` = 0x0A545353, the number of the call in `a6`, and arguments in `a0`..`a5`. It
returns an error in `a0` and a value in `a1`; every other register is preserved. The headers in `abi/` define numbers,
errors, structures and limits; the SDK has a function for each call.

| error | name, in messages also | |
|---|---|---|
"""

_ITEM = re.compile(
    r"/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/(?P<lonely>\n\n)?"
    r"|^#define (?P<name>\w+) (?P<value>[^\n]*?)(?: +/\*(?P<behind>(?:[^*]|\*(?!/))*)\*/)?$"
    r"|(?P<empty>\n\n)",
    re.MULTILINE,
)
_SIGNATURE = re.compile(r"\(([^()]*)\)(?: -> (.*))?")
_ERROR = re.compile(r"- (\w+_ERR_\w+)(?: \(([^)]*)\))?(?:: (.*))?")
_VALUES = re.compile(r"Values with (\w+) of (HCALL_\w+)\.")
_STRUCT = re.compile(r"^(?:/\*(?:[^*]|\*(?!/))*\*/\n)?struct (\w+) \{.*?^\};\n", re.MULTILINE | re.DOTALL)
_NO_CALLS = ("HCALL_EXTENSION", "HCALL_MAX", "HCALL_OK")
_ERROR_NAMES = ("HCALL_OK", "HCALL_ERR_", "IPC_ERR_")


class AbiError(Exception):
    """A comment that does not have the form."""


@dataclass(frozen=True)
class Error:
    """An error of a call: its name, the value returned with it, and what it means in this call."""

    name: str
    value: str
    meaning: str


@dataclass
class Call:
    """A hypercall."""

    name: str
    number: int
    arguments: str
    returns: str
    errors: list[Error]
    text: list[str]


@dataclass
class Section:
    """A section of a header: its calls, and the text before and behind them."""

    title: str
    before: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


@dataclass
class Header:
    """What a header says: its sections with calls, its errors with their meaning, its structures."""

    sections: list[Section] = field(default_factory=list)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)  # value and meaning by name
    values: dict[str, list[Error]] = field(default_factory=dict)  # by call
    structs: dict[str, str] = field(default_factory=dict)


def _paragraphs(comment: str) -> list[str]:
    """The paragraphs of a comment, each one line; an item of a list is a paragraph."""
    lines = [re.sub(r"^ ?\*? ?", "", line).rstrip() for line in comment.strip().split("\n")]
    marked = "\n".join("\n" + line if line.startswith("- ") else line for line in lines)
    return [" ".join(part.split()) for part in re.split(r"\n\n+", marked) if part.strip()]


def _error(text: str) -> Error:
    match = _ERROR.fullmatch(text)
    if match is None:
        raise AbiError(f"'{text}': expected '- ERROR (value): meaning'")
    return Error(match[1], match[2] or "", match[3] or "")


def _call(name: str, number: str, comment: str) -> Call:
    paragraphs = _paragraphs(comment) or [""]
    match = _SIGNATURE.fullmatch(paragraphs[0])
    if match is None:
        raise AbiError(f"{name}: '{paragraphs[0]}': expected '(arguments) -> value'")
    errors = [_error(text) for text in paragraphs[1:] if text.startswith("- ")]
    return Call(name, int(number), match[1], match[2] or "", errors, [
        text for text in paragraphs[1:] if not text.startswith("- ")
    ])  # fmt: skip


class _Reader:
    """Reads a header from its start to its end."""

    def __init__(self, text: str) -> None:
        self.header = Header(structs={match[1]: match[0] for match in _STRUCT.finditer(text)})
        self.section = Section("")
        self.comment = ""
        self.group: tuple[str, str] | None = None  # the error and the call of the values that follow
        for item in _ITEM.finditer(text):
            if item["comment"] is not None:
                self._read_comment(item["comment"], item["lonely"] is not None)
            elif item["name"]:
                self._read_define(item["name"], item["value"], item["behind"] or self.comment)
                self.comment = ""
            if item["empty"] or item["lonely"]:
                self.group, self.comment = None, ""

    def _read_comment(self, comment: str, lonely: bool) -> None:
        title = re.fullmatch(r" --- (.+) --- ", comment)
        values = _VALUES.search(" ".join(_paragraphs(comment)))
        if title:
            self.section = Section(title[1])
            self.header.sections.append(self.section)
        elif values:
            self.group = (values[1], values[2])
        elif lonely:
            (self.section.behind if self.section.calls else self.section.before).extend(_paragraphs(comment))
        self.comment = "" if title or values or lonely else comment

    def _read_define(self, name: str, value: str, comment: str) -> None:
        if name.startswith(_ERROR_NAMES):
            self.header.errors[name] = value.strip("()"), " ".join(_paragraphs(comment))
        elif name.startswith("HCALL_") and name not in _NO_CALLS:
            if not self.section.title:
                raise AbiError(f"{name}: expected in a section, /* --- Title --- */")
            self.section.calls.append(_call(name, value, comment))
        elif self.group is not None:
            error = Error(self.group[0], f"{_shown(value)} {name}", " ".join(_paragraphs(comment)))
            self.header.values.setdefault(self.group[1], []).append(error)


def _shown(value: str) -> str:
    return value.strip("()").replace("~0UL", "all ones").removesuffix("UL")


def read(text: str) -> Header:
    """Reads a header. A call gets the errors whose values are listed elsewhere in the header."""
    header = _Reader(text).header
    header.sections = [section for section in header.sections if section.calls]
    for call in (call for section in header.sections for call in section.calls):
        call.errors = header.values.get(call.name, []) + call.errors
    return header


def headers() -> list[Header]:
    """All headers of abi/, in the order of the document."""
    names = sorted(path.name for path in ABI.glob("*_abi.h"))
    ordered = [*HEADERS, *(name for name in names if name not in HEADERS)]
    return [read((ABI / name).read_text(encoding="utf-8")) for name in ordered]


def _linked(text: str) -> str:
    """With links instead of the names of documents."""
    return re.sub(r"\bdocs/([\w-]+\.md)(#[\w-]+)?", lambda match: f"[{match[1]}]({match[1]}{match[2] or ''})", text)


def _cell(text: str) -> str:
    return _linked(text).replace("|", "\\|")


def _wrapped(text: str) -> str:
    return textwrap.fill(_linked(text), WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells).replace("|  |", "| |").rstrip() + " |"


class Document:
    """The document of these headers."""

    def __init__(self, all_headers: list[Header]) -> None:
        self.headers = all_headers
        self.errors = {name: error for header in all_headers for name, error in header.errors.items()}

    def number(self, name: str) -> str:
        """The number of an error, or of another name of it."""
        value = self.errors[name][0]
        return self.number(value) if value in self.errors else value

    def error_rows(self) -> Iterator[str]:
        """The table of all errors."""
        for name, (value, meaning) in self.errors.items():
            also = [other for other, (of, _) in self.errors.items() if of == name]
            if value not in self.errors:
                yield _row(value, ", ".join([name, *also]), meaning)

    def errors_cell(self, call: Call) -> str:
        """The call's errors with what they mean, or their numbers, if a table follows that has their values."""
        if any(error.value for error in call.errors):
            return ", ".join(dict.fromkeys(number for number, _ in self.by_number(call)))
        return "; ".join(self.number(error.name) + f" {error.meaning}".rstrip() for error in call.errors)

    def by_number(self, call: Call) -> list[tuple[str, Error]]:
        """The call's errors with their numbers, sorted."""
        found = [(self.number(error.name), error) for error in call.errors]
        return sorted(found, key=lambda one: -int(one[0]))

    def call(self, call: Call) -> Iterator[str]:
        """The text of a call, and the table of its errors if they have values."""
        name = call.name.split("_", 2)[2]
        yield from [_wrapped(text) for text in [f"**{name}**: {' '.join(call.text[:1])}", *call.text[1:]] if call.text]
        if any(error.value for error in call.errors):
            yield "\n".join(["| error | value | |", "|---|---|---|"])
            yield from (_row(number, error.value, error.meaning) for number, error in self.by_number(call))
            yield ""

    def section(self, header: Header, section: Section) -> Iterator[str]:
        """A section: its text, the table of its calls, and the structures that they name."""
        yield f"## {section.title}\n"
        yield from map(_wrapped, section.before)
        yield "\n".join(["| number | call | returns | errors |", "|---|---|---|---|"])
        for call in section.calls:
            yield _row(str(call.number), f"{call.name} ({call.arguments})", call.returns, self.errors_cell(call))
        yield ""
        for call in section.calls:
            yield from self.call(call)
        yield from map(_wrapped, section.behind)
        named = dict.fromkeys(re.findall(r"struct (\w+)", " ".join(call.arguments for call in section.calls)))
        if named:
            yield "```c\n" + "\n".join(header.structs[name] for name in named) + "```\n"

    def text(self) -> str:
        """The whole document."""
        parts = [part for header in self.headers for one in header.sections for part in self.section(header, one)]
        return (_HEAD + "\n".join([*self.error_rows(), "", *parts])).rstrip("\n") + "\n"


def reference() -> str:
    """Returns the whole document."""
    return Document(headers()).text()


if __name__ == "__main__":
    sys.stdout.write(reference())
