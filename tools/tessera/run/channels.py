# SPDX-License-Identifier: Apache-2.0
"""The console's byte stream in both directions, divided into channels by VM
(services/console/channels.c)."""

import re

MARK = 0x1F
ESCAPE = b"\x14"  # Ctrl-T
LINES = "."  # the channel of whole lines: of the hypervisor, and of all VMs that have no channel of bytes
TO_CHANNELS = ESCAPE + bytes((MARK,)) + b"+"
TO_LINES = ESCAPE + bytes((MARK,)) + b"-"
MOST_VMS = 16
_CHANNELS = {ord(LINES), *range(ord("A"), ord("A") + MOST_VMS), *range(ord("a"), ord("a") + MOST_VMS)}

# Resets the terminal after one VM has used it exclusively: TERMINAL_RESTORE of services/console/keys.c.
RESTORE = (
    b"\x18\x1b[?1049l\x1b[?1;6;9;1000;1002;1003;1004;1005;1006;1015;2004l\x1b[r\x1b[0m\x1b[4l\x1b[?7;25h\x1b>"
    b"\x1b(B\x0f\x1b%G\x1b[999H\r\n"
)

# Return to the start of the line and erase: the following bytes replace the line.
_ERASE = re.compile(rb"\r+(?:\x1b\[\d*m)*\x1b\[\d?K")
_PREFIX = re.compile(rb"\x1b\[\d+m[^|]*\|\x1b\[0m ")
CUT = b"\x1b[m\r"  # ends a line that continues in the next line of the same VM
LINE_MAX = 65536  # bytes of an unfinished line; a longer line is passed on in pieces
FIRST_LINE = re.compile(rb"\|\x1b\[0m ")  # of the hypervisor, once its console is initialised


def vm_of(channel: str) -> int:
    """Returns the number of the channel's VM."""
    return ord(channel.upper()) - ord("A")


def select_keys(vm: int) -> bytes:
    """Returns the keys that select the VM for the following keys; -1: the VM with the keyboard."""
    return ESCAPE + bytes((MARK, ord("A") + vm if vm >= 0 else ord(".")))


class Demux:
    """Splits the machine's output by channel: LINES, or 'A' + VM number, in lower case for the VM
    with the keyboard."""

    def __init__(self) -> None:
        self.channel = LINES
        self._marked = False

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Takes the next piece of output, which may be cut at any byte."""
        first, *rest = data.split(bytes((MARK,)))
        pieces = [self._after_mark(first) if self._marked and first else (self.channel, first)]
        self._marked &= not first
        for piece in rest:
            if self._marked:  # the mark twice: a byte of the VM
                self._marked = False
                pieces.append((self.channel, bytes((MARK,)) + piece))
            elif piece:
                pieces.append(self._after_mark(piece))
            else:
                self._marked = True
        return [(channel, piece) for channel, piece in pieces if piece]

    def _after_mark(self, piece: bytes) -> tuple[str, bytes]:
        if piece[0] in _CHANNELS:
            self.channel = chr(piece[0])
            return self.channel, piece[1:]
        return self.channel, bytes((MARK,)) + piece


class Keys:
    """Splits typed bytes into plain bytes and pairs of the escape key and the key that follows
    it."""

    def __init__(self) -> None:
        self._escape = False

    def feed(self, typed: bytes) -> list[bytes]:
        """Returns pieces of plain bytes and pairs with the escape key; keeps an escape key without
        its second key."""
        pieces = [b""]
        for byte in (bytes((value,)) for value in typed):
            if self._escape:
                pieces += [ESCAPE + byte, b""]
                self._escape = False
            elif byte == ESCAPE:
                self._escape = True
            else:
                pieces[-1] += byte
        return [piece for piece in pieces if piece]


class WholeLines:
    """Lines for a file: each line once and whole. On a terminal, lines grow, are erased, drawn
    again and cut."""

    def __init__(self) -> None:
        self._tail = b""
        self._begun: dict[bytes, bytes] = {}

    def feed(self, data: bytes) -> bytes:
        *lines, self._tail = (self._tail + data).split(b"\n")
        return b"".join(self._finish(line) for line in lines)

    def _finish(self, line: bytes) -> bytes:
        line = _ERASE.split(line)[-1]
        found = _PREFIX.match(line)
        if not found:
            return line + b"\n"
        name = found[0]
        if name in self._begun:
            line = self._begun.pop(name) + line[found.end() :]
        if line.endswith(CUT) and len(line) < LINE_MAX:
            self._begun[name] = line.removesuffix(CUT)
            return b""
        return line + b"\n"

    def end(self) -> bytes:
        """Returns the unfinished lines."""
        unfinished = [*self._begun.values(), _ERASE.split(self._tail)[-1]]
        self._begun, self._tail = {}, b""
        return b"".join(line + b"\r\n" for line in unfinished if line)
