# SPDX-License-Identifier: Apache-2.0
"""
The comparison of the firmware's device tree with the board: each contradiction is found, what a tree lacks is none, and
a hostile tree is not read outside of its bytes (detected by the sanitizers).
"""

import ctypes
import struct
import subprocess
from functools import cache

import pytest
from core import CORE, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.image import fdt

FINDINGS = 9


class Uart(ctypes.Structure):
    _fields_ = (
        ("compatible", ctypes.c_char_p * 2),
        ("base", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("irq", "stride", "width")),
    )


class Irqchip(ctypes.Structure):
    _fields_ = (
        ("compatible", ctypes.c_char_p * 2),
        ("count", ctypes.c_char_p),
        ("base", ctypes.c_uint64),
        ("sources", ctypes.c_uint32),
    )


class Board(ctypes.Structure):
    _fields_ = (
        ("uart", Uart),
        ("irqchip", Irqchip),
        *((name, ctypes.c_uint64) for name in ("ram", "ram_end", "timebase_hz")),
        ("harts", ctypes.c_uint32),
    )


class Finding(ctypes.Structure):
    _fields_ = (
        ("what", ctypes.c_char_p),
        ("found", ctypes.c_uint64),
        ("expected", ctypes.c_uint64),
        *((name, ctypes.c_bool) for name in ("address", "fatal", "uart")),
    )


Pair = ctypes.c_char_p * 2
BOARD = Board(
    Uart(Pair(b"ns16550a", b"ns16550"), 0x10000000, 1, 4, 4),
    Irqchip(Pair(b"some,chip0", b"other,chip"), b"some,count", 0xC000000, 30),
    0x80200000, 0xBFE00000, 50_000_000, 1,
)  # fmt: skip
SOURCE = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	compatible = "ns16550a";
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		timebase-frequency = <50000000>;
		cpu@0 { device_type = "cpu"; reg = <0>; status = "okay"; intc { compatible = "some,intc"; }; };
		cpu@1 { device_type = "cpu"; reg = <1>; status = "disabled"; };
	};
	memory@80000000 { device_type = "memory"; reg = <0 0x80000000 0 0x20000000 0 0xa0000000 0 0x20000000>; };
	soc {
		#address-cells = <2>;
		#size-cells = <2>;
		ranges;
		plic: chip@c000000 {
			compatible = "any,chip", "other,chip"; reg = <0 0xc000000 0 0x4000000>; some,count = <30>;
		};
		serial@10000000 {
			compatible = "ns16550a"; reg = <0 0x10000000 0 0x1000>;
			interrupts = <1>; reg-shift = <2>; reg-io-width = <4>;
		};
	};
};
"""


def compare(blob: bytes) -> list[Finding]:
    """The contradictions in the blob, which is copied to a buffer of its exact size."""
    findings = (Finding * FINDINGS)()
    buffer = ctypes.create_string_buffer(blob, len(blob))
    CORE.fwtree_read(buffer, len(blob), ctypes.byref(BOARD))
    count = CORE.fwtree_compare(ctypes.byref(BOARD), findings)
    assert count <= FINDINGS
    return list(findings[:count])


def tree(*changes: tuple[str, str]) -> bytes:
    text = SOURCE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return _compiled(text)


@cache
def _compiled(text: str) -> bytes:
    done = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb"], input=text.encode(), capture_output=True, check=True)
    assert list(fdt.values(done.stdout))
    return done.stdout


def test_a_tree_that_agrees() -> None:
    assert [finding.what for finding in compare(tree())] == []


CASES = {
    "uart address": (("reg = <0 0x10000000", "reg = <0 0x10010000"), b"the UART's address", 0x10010000, 0x10000000),
    "uart irq": (("interrupts = <1>", "interrupts = <10>"), b"the UART's interrupt", 10, 1),
    "uart irq of a controller": (
        ("interrupts = <1>", "interrupts-extended = <&plic 3>"),
        b"the UART's interrupt",
        3,
        1,
    ),
    "stride": (("reg-shift = <2>; ", ""), b"bytes between the UART's registers", 1, 4),
    "width": (("reg-io-width = <4>", "reg-io-width = <1>"), b"bytes of an access to the UART", 1, 4),
    "irqchip": (
        ("reg = <0 0xc000000", "reg = <0 0xd000000"),
        b"the interrupt controller's address",
        0xD000000,
        0xC000000,
    ),
    "sources": (("some,count = <30>", "some,count = <29>"), b"the interrupt controller's sources", 29, 30),
    "too little ram": (
        ("0 0xa0000000 0 0x20000000>", "0 0xa0000000 0 0x1fd00000>"),
        b"the end of the RAM",
        0xBFD00000,
        0xBFE00000,
    ),
    "hole in ram": (
        ("0 0xa0000000 0 0x20000000>", "0 0xa0200000 0 0x1fe00000>"),
        b"the end of the RAM",
        0xA0000000,
        0xBFE00000,
    ),
    "other ram": (
        ("0 0x80000000 0 0x20000000 0 0xa0000000", "0 0x40000000 0 0x20000000 0 0x60000000"),
        b"the end of the RAM",
        0x80000000,
        0xBFE00000,
    ),
    "harts": (('reg = <0>; status = "okay"', 'reg = <0>; status = "fail"'), None, 0, 0),
    "timebase": (("<50000000>", "<10000000>"), b"the timebase in Hz", 10_000_000, 50_000_000),
    "wide timebase": (("<50000000>", "<1 0>"), b"the timebase in Hz", 1 << 32, 50_000_000),
}


@pytest.mark.parametrize("case", CASES)
def test_each_contradiction(case: str) -> None:
    change, what, found, expected = CASES[case]
    findings = compare(tree(change))
    if what is None:  # a tree without a usable hart says nothing about their number
        assert findings == []
        return
    assert [(f.what, f.found, f.expected) for f in findings] == [(what, found, expected)]
    assert findings[0].fatal == (b"timebase" not in what)
    assert findings[0].uart == (what.startswith(b"bytes") or what == b"the UART's address")


def test_more_harts_than_the_machine_has() -> None:
    BOARD.harts = 2
    try:
        assert [(f.what, f.found, f.expected) for f in compare(tree())] == [(b"the number of harts", 1, 2)]
        assert compare(tree(('reg = <1>; status = "disabled";', "reg = <1>;"))) == []
    finally:
        BOARD.harts = 1


def test_what_a_tree_lacks_is_no_contradiction() -> None:
    assert compare(_compiled('/dts-v1/; / { model = "nothing"; };')) == []


def test_a_second_uart_may_be_anywhere() -> None:
    first = 'serial@0 { compatible = "ns16550"; reg = <0 0x4000 0 0x100>; interrupts = <7>; }; plic:'
    assert compare(tree(("plic:", first))) == []


def test_truncated_tree() -> None:
    """A tree that ends anywhere: what is left of it agrees, or lacks something; the RAM may end early."""
    blob = tree()
    found = {f.what for size in range(len(blob)) for f in compare(blob[:size])}
    assert found == set()


WORD = st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1))


@settings(max_examples=examples(300, 5000), deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 10**6), WORD), min_size=1, max_size=6))
def test_corrupted_words(changes: list[tuple[int, int]]) -> None:
    blob = bytearray(tree())
    for place, value in changes:
        struct.pack_into(">I", blob, place % (len(blob) // 4) * 4, value)
    for finding in compare(bytes(blob)):
        assert finding.found != finding.expected


@settings(max_examples=examples(300, 5000), deadline=None, derandomize=True)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    assert compare(data) == []


TOKEN = st.sampled_from([1, 2, 3, 4])


@settings(max_examples=examples(300, 5000), deadline=None, derandomize=True)
@given(st.lists(st.one_of(TOKEN, WORD), max_size=60))
def test_any_tokens(words: list[int]) -> None:
    """Nodes without an end, ends without a node, values that are too long."""
    body = struct.pack(f">{len(words)}I", *words)
    header = struct.pack(">10I", 0xD00DFEED, 40 + len(body), 40, 40, 0, 17, 16, 0, 0, len(body))
    compare(header + body)
