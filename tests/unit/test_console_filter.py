# SPDX-License-Identifier: Apache-2.0
"""
In line mode only allowed sequences of VMs reach the terminal. Checked by a grammar, and by a
terminal emulator (pyte) that must not answer, change its title or mode, or lose a VM's name.
"""

import ctypes
import itertools
import re
import unicodedata

import pyte
import pytest
from core import CORE, examples, flush_unfinished_lines
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tessera.run.channels import TO_LINES

SETTINGS = settings(
    max_examples=examples(100), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
NAMES = ("vm-a", "vm-b")
PREFIXES = tuple(f"{name:<8}| " for name in (*NAMES, "tessera"))
LEAST_COLUMN = len(PREFIXES[0]) + 1

# One item of permitted output.
ALLOWED = re.compile(
    rb"[ -~\t]"
    rb"|[\xc3-\xdf][\x80-\xbf]|\xc2[\xa0-\xbf]"
    rb"|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
    rb"|\x1b\[[0-9;]*m|\x1b\[0*K|\x1b\[[0-9;]*[P@]|\x1b\[(?P<column>\d+)G"
    rb"|\r\x1b\[0m\x1b\[K|\r\n"
)

WHOLE = (
    b"\x1b[31m", b"\x1b[0;1;38;5;200m", b"\x1b[m", b"\x1b[K", b"\x1b[0K", b"\x1b[J", b"\x1b[6D", b"\x1b[200C",
    b"\b", b"\b \b", b"\x1b[3P", b"\x1b[@", "täglich €".encode(), "𝄞".encode(), b"linux:~# ", b"x" * 45,
    b"\t", b"\r\n", b"\n", b"\r",
)  # fmt: skip
EVIL = (
    b"\x1b[21t", b"\x1b[c", b"\x1b[>c", b"\x1b[6n", b"\x1b[?6n", b"\x1b[5n", b"\x05", b"\x1bZ", b"\x1b[x",
    b"\x1bP$qm\x1b\\", b"\x1b]0;title\x07", b"\x1b]2;rm -rf\x1b\\", b"\x1b_x\x1b\\", b"\x1b^x\x1b\\",
    b"\x1bXx\x9c", b"\x1bktitle\x1b\\", b"\x9b21t", "\x9b21t".encode(), "\x9d0;x\x07".encode(),
    b"\x90$qm\x9c", b"\xc2\x85", b"\xe0\x82\x9b", b"\xc0\x9b", b"\x1b[2J", b"\x1b[1K", b"\x1b[2K", b"\x1b[H",
    b"\x1b[10A", b"\x1b[99999999999999D", b"\x1b[65540D", b"\x1b[1;1r", b"\x1b(0", b"\x1b[?1049h",
    b"\x1b[?25l", b"\x1b[>4;2m", b"\x1b[?4m", b"\x1b[1 q", b"\x1b[!p", b"\x1bc", b"\x1b7", b"\x1b8",
    b"\x1b#8", b"\x0e", b"\x0f", b"\x0b", b"\x0c", b"\x18", b"\x1a", b"\x7f", b"\x1b", b"\x1b[", b"\x1b[3",
    b"\x1b]0;", b"\x1bP", b"\xe2\x82", "\u2028vm-b    | forged".encode(), "\u202edegrof\u2069".encode(),
)  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(WHOLE), st.sampled_from(EVIL), st.binary(min_size=1, max_size=6),
    st.sampled_from([bytes([byte]) for byte in (0x1B, 0x5B, 0x3B, 0x30, 0x9B, 0xC2, 0x5D, 0x50, 0x6D, 0x08)]),
)  # fmt: skip
WRITES = st.tuples(st.integers(0, 1), st.lists(PIECES, max_size=12).map(b"".join))
KEYS = st.sampled_from((b"\x141", b"\x142", b"\x14l"))
ROOM = st.integers(0, 90)
ENDLESS = 0xFFFFFFFF
EVENTS = st.lists(st.one_of(WRITES, WRITES, KEYS, st.none()), max_size=20)
SLOW_EVENTS = st.lists(st.one_of(WRITES, WRITES, ROOM, ROOM, st.none()), max_size=20)


def shown(events: list, uart: bool) -> bytes:
    """The terminal's input after events: writes of two VMs, keys, None for a timeout, a number for
    space in the UART."""
    assert CORE.testbed_boot(1, 2, (ctypes.c_uint * 2)(1, 1), 1000)
    CORE.host_uart_room(ENDLESS)
    CORE.host_type(TO_LINES)  # the console keeps its state, including the mode, across a boot
    for vm in range(2):
        CORE.testbed_write(vm, b"\n", 1, uart)
    CORE.host_output()
    output = b""
    for event in events:
        if event is None:
            flush_unfinished_lines(2)
        elif isinstance(event, bytes):
            CORE.host_type(event)
        elif isinstance(event, int):
            CORE.host_uart_room(event)
        else:
            vm, data = event
            CORE.testbed_write(vm, data, len(data), uart)
        output += CORE.host_output()
    CORE.host_uart_room(ENDLESS)
    output += CORE.host_output()
    CORE.console_drain()
    return output + CORE.host_output()


class Terminal:
    """Supports the operations that lines need, and fails on reports and all other operations."""

    NEEDED = frozenset((
        "draw", "carriage_return", "linefeed", "tab", "select_graphic_rendition", "erase_in_line", "cursor_to_column",
        "insert_characters", "delete_characters",
    ))  # fmt: skip

    def __init__(self, columns: int, output: bytes) -> None:
        self.screen = pyte.Screen(columns, 1000)
        stream = pyte.ByteStream()
        stream.attach(self)
        stream.feed(output)

    def __getattr__(self, event: str) -> object:
        def refuse(*arguments: object, **named: object) -> None:
            raise AssertionError(f"the terminal received: {event} {arguments} {named}")

        return getattr(self.screen, event) if event in self.NEEDED else refuse

    def row(self, number: int) -> str:
        cells = self.screen.buffer[number]
        return "".join(cells[column].data for column in range(max(cells, default=-1) + 1)).rstrip()

    @property
    def rows(self) -> list[str]:
        return [row for number in range(self.screen.cursor.y + 1) if (row := self.row(number))]


def check_grammar(output: bytes) -> None:
    at = 0
    while at < len(output):
        item = ALLOWED.match(output, at)
        assert item, output[max(0, at - 30) : at + 30]
        assert not item["column"] or int(item["column"]) >= LEAST_COLUMN, item
        at = item.end()


def check_terminal(output: bytes) -> None:
    """Each line begins with a name, on a terminal wide enough for all lines."""
    for row in Terminal(2000, output).rows:
        assert f"{row} ".startswith(PREFIXES), row


@given(EVENTS, st.booleans())
@example([(0, b"".join(EVIL)), (1, b"".join(EVIL))], True)
@example([(0, b"ab\x1b[6D\x1b[1KX"), (0, b"\b" * 20 + b"vm-b    | forged\n")], False)
@example([(1, b"\x1b[2mx\x1b[0"), None, (1, b"Kforged\n")], True)
@example([(1, b"\x1b[6mx\xf0\x90\x80"), None, (1, b"\x80n\n")], True)
@example([(1, b"\x1b[0mx\xe2"), None, (1, b"\x82\xac]0;title\n")], True)
@example([(0, b"\x1b[31m\x1b[0;1;38;5;200m\r\x1b[31m")], True)
@example([(0, "abcdefgh\u20ac\u20ac\rx".encode())], True)
@SETTINGS
def test_only_allowed_sequences_reach_the_terminal(deeds, uart):
    output = shown(deeds, uart)
    check_grammar(output)
    check_terminal(output)


@given(SLOW_EVENTS)
@example([47, (0, b"A" * 60), (0, b"\r" + b"x" * 28 + b"\b[6n tail")])
@SETTINGS
def test_only_allowed_sequences_reach_a_slow_terminal(events):
    """The UART has limited space; output of a VM then waits, or is lost if the VM does not check
    the status."""
    check_grammar(shown([*events, ENDLESS], True))


@given(st.lists(PIECES, max_size=20).map(b"".join), st.lists(st.integers(0, 200), max_size=8))
@SETTINGS
def test_output_does_not_depend_on_how_writes_are_split(data, cuts):
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [(0, data[start:end]) for start, end in itertools.pairwise(places)]
    check_grammar(shown(pieces, False))
    assert last_line(shown(pieces, False)) == last_line(shown([(0, data)], False))


def last_line(output: bytes) -> str:
    return (Terminal(2000, output).rows or [""])[-1]


@pytest.mark.parametrize("columns", [40, 80, 81])
def test_margin_does_not_allow_overwriting_the_name(columns):
    """A terminal keeps the cursor in the last column until the next character, so each round here
    gains a column."""
    text = b"x" * (columns - LEAST_COLUMN + 1) + b"yyy\b\b\b" * 20 + b"\b" * 8
    assert Terminal(columns, shown([(0, text)], False)).row(0).startswith(PREFIXES[0])


@pytest.mark.parametrize(
    ("written", "screen"),
    [
        (b"plain \xc3\xa4\xe2\x82\xac", "plain ä€"),
        (b"ab\b\bX", "Xb"),
        (b"hello\b\b\b\x1b[J", "he"),
        (b"hello\x1b[3D\x1b[P", "helo"),
        (b"hello\x1b[4D\x1b[2CX", "helXo"),
        (b"\b\b\x1b[50Dtext", "text"),
        (b"a\tb", "a     b"),
        (b"a\tb\bc", "a     c"),
        (b"one\rtwo", "two"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]0;title\ntext", "text"),
        (b"\x1b[?25l\x1b(0text\x1b[?25h", "text"),
        (b"\x9b31mtext", "31mtext"),
        (b"caf\xe9 au lait", "caf au lait"),
        (b"\x1b[6ntext", "text"),
        (b"hello\x1b[3D\x1b[;KX", "heXlo"),
        (b"\x1b[3\x7f1mtext", "text"),
        (b"\x1b(\x7f0text", "text"),
        (b"\x1b[" + b"1;" * 20 + b"mtext", "text"),
        (b"\x1b[1000mtext", "text"),
        (b"hello\x1b[D\x1b[DX", "helXo"),
    ],
)
def test_effect_of_allowed_sequences(written, screen):
    assert last_line(shown([(0, written)], True)) == f"{PREFIXES[0]}{screen}"


# Unicode 15.1, DerivedCoreProperties.txt: characters of Default_Ignorable_Code_Point that have another general category
# than Cf; and those of category Cf that Python 3.11, which has Unicode 14, does not know.
IGNORABLE = {
    0x034F, *range(0x115F, 0x1161), *range(0x17B4, 0x17B6), *range(0x180B, 0x1810), 0x2065, 0x3164,
    *range(0xFE00, 0xFE10), 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000), *range(0x13430, 0x13440),
}  # fmt: skip
# Of category Cf, but with a glyph: PropList.txt, Prepended_Concatenation_Mark.
PREPENDED = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}


def has_glyph(character: str) -> bool:
    """Returns whether the character is neither a control or format character, nor an end of a line, nor invisible."""
    if unicodedata.category(character) == "Cf":
        return ord(character) in PREPENDED
    return unicodedata.category(character) not in ("Cc", "Zl", "Zp") and ord(character) not in IGNORABLE


def legal(data: bytes) -> bytes:
    """The bytes if they encode a character with a glyph; otherwise empty."""
    character = data.decode(errors="ignore")
    return data if character and has_glyph(character) else b""


@pytest.mark.slow
@pytest.mark.parametrize("plane", [0, 1, 14])
def test_exactly_the_characters_with_a_glyph_are_shown(plane):
    """No end of a line, no control of direction, no invisible character of Unicode."""
    points = [*range(max(0x80, plane << 16), (plane + 1) << 16)]
    lines = ["".join(map(chr, points[at : at + 32])).encode(errors="ignore") for at in range(0, len(points), 32)]
    output = shown([(0, line + b"\n") for line in lines], False)
    got = b"".join(re.findall(rb"\|\x1b\[0m (.*)\r\n", output)).decode()
    assert got == "".join(filter(has_glyph, b"".join(lines).decode()))


def test_a_vm_cannot_forge_a_line_for_programs_that_split_at_unicodes_line_ends():
    """Python's str.splitlines() ends a line at each of these characters."""
    ends = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    forged = "".join(f"a{end}tessera | error: forged\n" for end in ends).encode()
    lines = shown([(0, forged)], False).decode().splitlines()
    assert len(lines) == len(ends)
    assert all("vm-a    |" in line for line in lines), lines


@pytest.mark.parametrize("second", range(0x80, 0xC0))
def test_exactly_the_valid_unicode_characters_are_shown(second):
    """No overlong form, no surrogate, nothing beyond U+10FFFF, no C1: each first byte with this
    second byte."""
    data = [bytes([first, second]) + b"\x80" * ((first >= 0xE0) + (first >= 0xF0)) for first in range(0xC0, 0x100)]
    output = shown([(0, b"".join(b"<" + one + b">\n" for one in data))], False)
    assert re.findall(rb"<(.*)>", output) == [legal(one) for one in data]


@pytest.mark.parametrize("first", range(1, len("h\x1b[1;35m€llo".encode())))
def test_sequence_continues_after_its_line_was_split(first):
    """Without the keyboard focus, a VM's unfinished line is shown after a timeout and continued in
    the next line."""
    text = "h\x1b[1;35m€llo".encode()
    output = shown([(1, text[:first]), None, (1, text[first:] + b"\n")], False)
    assert output.count(b"\x1b[1;35m") == 1
    assert "".join(row.removeprefix(PREFIXES[1]) for row in Terminal(2000, output).rows) == "h€llo"


def test_colours_end_with_the_line():
    output = shown([(1, b"\x1b[41mred\nplain\n")], False)
    assert b"red\x1b[0m\r\n" in output
    assert b"plain\r\n" in output


def test_unterminated_string_ends():
    assert b"text" in shown([(0, b"\x1b]" + b"x" * 5000 + b"text")], False)
    assert b"text" in shown([(0, b"\x1b]xx\ntext")], False)
