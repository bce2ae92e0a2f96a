# SPDX-License-Identifier: Apache-2.0
"""A minimal C scanner: removes comments and literals, and finds functions."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_NAME_BEFORE_PARENTHESIS = re.compile(r"([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Function:
    """A function's name, the lines of its braces (1-based, inclusive) and the text between them."""

    name: str
    first: int
    last: int
    body: str


def blank(text: str, also_strings: bool = True) -> str:
    """Returns the text with comments (and string contents) replaced by spaces; line numbers do not
    change."""

    def spaces(match: re.Match[str]) -> str:
        token = match.group(0)
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[-1] if also_strings else token
        return re.sub(r"[^\n]", " ", token)

    return _TOKEN.sub(spaces, text)


def without_directives(blanked: str) -> str:
    """Returns blanked text without preprocessor lines, whose braces would be counted wrongly."""
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), blanked)


def _head(code: str, brace: int) -> str:
    """Returns the text between the previous declaration and the brace at index `brace`."""
    start = max(code.rfind(";", 0, brace), code.rfind("}", 0, brace), code.rfind("{", 0, brace)) + 1
    return code[start:brace].strip()


def functions(text: str) -> list[Function]:
    """Returns all function definitions of a C file, found by their outermost braces."""
    code = without_directives(blank(text))
    found: list[Function] = []
    depth = 0
    start = 0
    for index, char in enumerate(code):
        if char == "{":
            if depth == 0:
                start = index
            depth += 1
        elif char == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                function = _function(code, start, index)
                if function is not None:
                    found.append(function)
    return found


def _function(code: str, start: int, end: int) -> Function | None:
    head = _head(code, start)
    if not head.endswith(")") or "=" in head.split("(")[0]:
        return None  # a struct, an enum, an initializer
    names = [name for name in _NAME_BEFORE_PARENTHESIS.findall(head) if not name.startswith("__")]
    name = names[0] if names else "?"
    return Function(name, code.count("\n", 0, start) + 1, code.count("\n", 0, end) + 1, code[start + 1 : end])
