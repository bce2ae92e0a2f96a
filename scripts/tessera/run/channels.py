# SPDX-License-Identifier: Apache-2.0
"""The console as scripts/run.py shares it out: what comes from the machine, and what is typed (operator/channels.c)."""

import re

MARK = 0x1F
ESCAPE = b"\x14"  # Ctrl-T
LINES = "."  # the channel of lines: the hypervisor's, and all VMs' unless their bytes come one by one
TO_CHANNELS = ESCAPE + bytes((MARK,)) + b"+"
TO_LINES = ESCAPE + bytes((MARK,)) + b"-"
MOST_VMS = 16
_CHANNELS = {ord(LINES), *range(ord("A"), ord("A") + MOST_VMS), *range(ord("a"), ord("a") + MOST_VMS)}

# Whatever a VM did that had the terminal alone: TERMINAL_RESTORE of operator/keys.c.
RESTORE = (
    b"\x18\x1b[?1049l\x1b[?1;6;9;1000;1002;1003;1004;1005;1006;1015;2004l\x1b[r\x1b[0m\x1b[4l\x1b[?7;25h\x1b>"
    b"\x1b(B\x0f\x1b%G\x1b[999H\r\n"
)

_ERASE = re.compile(rb"\r+(?:\x1b\[\d*m)*\x1b\[\d?K")  # back to the line's start and erase: what follows replaces it
_PREFIX = re.compile(rb"\x1b\[\d+m[^|]*\|\x1b\[0m ")
CUT = b"\x1b[m\r"  # behind a line whose rest comes in the next one of its VM
LINE_MAX = 65536  # of a line that a VM does not end, bytes; then it is put together no longer
FIRST_LINE = re.compile(rb"\|\x1b\[0m ")  # of a hypervisor that has its UART


def vm_of(channel: str) -> int:
    """The number of the VM whose channel it is."""
    return ord(channel.upper()) - ord("A")


def select_keys(vm: int) -> bytes:
    """What makes the keys that follow go to a VM; -1: to the one that has the keyboard."""
    return ESCAPE + bytes((MARK, ord("A") + vm if vm >= 0 else ord(".")))


class Demux:
    """Splits what the machine sends by channel: LINES, or 'A' + VM number, in small letters if it has the keyboard."""

    def __init__(self) -> None:
        self.channel = LINES
        self._marked = False

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Takes the next piece, cut anywhere."""
        first, *rest = data.split(bytes((MARK,)))
        pieces = [self._after_mark(first) if self._marked and first else (self.channel, first)]
        self._marked &= not first
        for piece in rest:
            if self._marked:  # twice: it is a byte of the VM
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
    """What is typed: plain bytes, and the escape key with the key behind it."""

    def __init__(self) -> None:
        self._escape = False

    def feed(self, typed: bytes) -> list[bytes]:
        """Pieces of plain bytes, and pairs that begin with the escape key; one that waits for its second is kept."""
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
    """Lines for a file: each once and whole. A terminal sees them grow, be erased and drawn again, and be cut."""

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
        """What was never finished."""
        unfinished = [*self._begun.values(), _ERASE.split(self._tail)[-1]]
        self._begun, self._tail = {}, b""
        return b"".join(line + b"\r\n" for line in unfinished if line)
