# SPDX-License-Identifier: Apache-2.0
"""The class behind the fixture `builder`: a directory with a system source and guest files; builds
systems in memory."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tessera.image.board import KEY_FILE
from tessera.image.build import Built, Options, build
from tessera.image.problems import BuildError

ROOT = Path(__file__).resolve().parents[2]

# Two VMs and a device. Cases of test_image_refused.py change one item; line numbers in their
# messages count from here.
SYSTEM = """\
/dts-v1/;
/ {
	compatible = "tessera,system";
	board = "qemu-virt";
	harts = <2>;
	quantum-us = <5000>;
	devices {
		rng0 {
			slot = "virtio-mmio0";
			model = "virtio-rng";
		};
	};
	vms {
		one {
			memory-size = <0x1000000>;
			image = "one.bin";
			initrd = "initrd.gz";
			sign-of-life = "one up";
			devices = "rng0";
		};
		two {
			memory-size = <0x400000>;
			image = "two.bin";
			sign-of-life = "two up";
		};
	};
};
"""


class ImageBuilder:
    """`sys.dts` and `guests/` in the current directory."""

    guests = Path("guests")
    source = Path("sys.dts")
    platform = ROOT / "platform"

    def __init__(self) -> None:
        self.guests.mkdir()
        self.file("one.bin", b"\x13" * 5000)
        self.file("two.bin", b"\x6f\0\0\0" * 300)
        self.file("initrd.gz", b"\x1f\x8b" + bytes(range(256)) * 40)

    def file(self, name: str, data: bytes) -> None:
        (self.guests / name).write_bytes(data)

    def build(self, text: str, hypervisor: Path | None = None, without: tuple[str, ...] = ()) -> Built:
        self.source.write_text(text)
        return build(Options(self.source, hypervisor, (self.guests,), self.platform, without))

    def refuse(self, text: str) -> list[str]:
        """Builds a system that must be refused, and returns the error lines."""
        with pytest.raises(BuildError) as refusal:
            self.build(text)
        return str(refusal.value).split("\n")

    def make_board(self, *changes: tuple[str, str]) -> Path:
        """Makes the board `alt` from QEMU's virt, for errors that cannot occur there; returns its file."""
        original = self.platform / "qemu-virt"
        self.platform = Path("platform")
        path = self.platform / "alt" / "board.dts"
        path.parent.mkdir(parents=True)
        path.write_text(changed((original / "board.dts").read_text(), changes))
        (path.parent / KEY_FILE).write_bytes((original / KEY_FILE).read_bytes())
        return path


def _unescaped(text: str) -> str:
    return re.sub(r"\\([nt\\])", lambda match: {"n": "\n", "t": "\t", "\\": "\\"}[match[1]], text)


def read_cases(path: Path) -> dict[str, tuple[list[list[str]], list[str]]]:
    """The cases of a file like refused.txt by name: the changes [[old, new], ...] and the expected
    lines."""
    cases = {}
    for line in path.read_text().splitlines():
        mark, text = line[:1], line[2:]
        if mark == "=":
            assert text not in cases
            changes, expected = cases[text] = ([], [])
        elif mark == "-":
            changes.append([_unescaped(text), ""])
        elif mark == "+":
            changes[-1][1] = _unescaped(text)
        elif mark == ">":
            expected.append(f"sys.dts:{text}")
        else:
            assert mark in ("", "#"), line
    return cases


def changed(text: str, changes: Iterable[Sequence[str]]) -> str:
    """The text of a system or of a board after the changes of a case."""
    for old, new in changes:
        assert text.count(old) == 1, f"the file contains {old!r} {text.count(old)} times"
        text = text.replace(old, new)
    return text
