# SPDX-License-Identifier: Apache-2.0
"""
The channel protocol: output is separated by VM as it was written (tools/tessera/run/channels.py),
however it is split; a VM with exclusive use of the terminal is not disturbed; lines for a file are
complete and appear once.
"""

import ctypes
import itertools
import re

import pytest
from core import CORE, examples, flush_unfinished_lines
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tessera.run.channels import LINE_MAX, LINES, TO_CHANNELS, TO_LINES, Demux, Keys, WholeLines, select_keys

SETTINGS = settings(max_examples=examples(50), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
# No zeros, since host_output() returns a C string.
SPECIAL = (b"\x1f", b"\x1f\x1f", b"\x1fA", b"\r\n", b"\x1b[6n", b"x" * 500)
BYTES = st.one_of(
    st.binary(min_size=1, max_size=40).map(lambda data: data.replace(b"\0", b"0")), st.sampled_from(SPECIAL)
)
WRITES = st.lists(st.tuples(st.integers(0, 2), BYTES), max_size=20)
ALONE, COMMON = b"\x14a", re.compile(rb"\x18\x1b\[\?1049l.*?\x1b\[999H\r\n", re.DOTALL)


def begin() -> bytes:
    """Boots and ends unfinished lines, since the console keeps its state across a boot."""
    assert CORE.testbed_boot(1, 3, (ctypes.c_uint * 3)(1, 1, 1), 1000)
    key(TO_LINES)
    write([(vm, b"\n") for vm in range(3)])
    return CORE.host_output()


def write(writes: list[tuple[int, bytes]], at_once: bool = False) -> bytes:
    output = b""
    for vm, data in writes:
        CORE.testbed_write(vm, data, len(data), False)
        output += b"" if at_once else CORE.host_output()
    return output + CORE.host_output()


def key(keys: bytes) -> bytes:
    CORE.host_type(keys)
    return CORE.host_output()


def written_by(writes: list[tuple[int, bytes]], vm: int) -> bytes:
    return b"".join(data for writer, data in writes if writer == vm)


@given(WRITES, WRITES, WRITES, st.booleans(), st.lists(st.integers(0, 3000), max_size=10))
@example([], [(0, b"\x1f"), (1, b"A"), (0, b"\x1f")], [(0, b"\x1b[6n")], True, [1, 2, 3, 4, 5])
@SETTINGS
def test_channels_are_separated_as_written(before, writes, after, at_once, cuts):
    begin()
    write(before)
    first = key(TO_CHANNELS)
    second = write(writes, at_once)
    third = key(TO_LINES) + write(after)
    sent = first + second + third
    places = sorted({min(cut, len(sent)) for cut in cuts} | {0, len(sent)})
    demux, got = Demux(), {}
    for start, end in itertools.pairwise(places):
        for channel, data in demux.feed(sent[start:end]):
            got[channel] = got.get(channel, b"") + data
    for vm, letter in enumerate("aBC"):  # the first VM has the keyboard focus
        assert got.get(letter, b"") == written_by(writes, vm)
    assert b"keyboard: vm-a" in got.pop(LINES)
    assert set(got) <= {"a", "B", "C"}


def test_lines_of_the_hypervisor_are_interleaved():
    begin()
    key(TO_CHANNELS)
    sent = write([(1, b"one")]) + key(b"\x142") + write([(1, b"two")])
    got = Demux().feed(sent)
    assert [channel for channel, _ in got] == ["B", LINES, "b"]
    assert b"keyboard: vm-b\r\n" in got[1][1]


def test_input_goes_to_the_named_vm():
    begin()
    key(TO_CHANNELS + select_keys(2) + b"x\x14\x14" + select_keys(-1) + b"y" + select_keys(7) + b"z")
    typed = [bytes(iter(lambda vm=vm: CORE.testbed_typed(vm), -1)) for vm in range(3)]
    assert typed == [b"yz", b"", b"x\x14"]
    key(select_keys(1) + TO_LINES + b"w")
    assert CORE.testbed_typed(0) == ord("w")


@given(WRITES, st.booleans())
@SETTINGS
def test_exclusive_use_shows_only_that_vm(writes, at_once):
    begin()
    assert b"alone" in key(ALONE)
    assert write(writes, at_once) == written_by(writes, 0)
    sent = key(ALONE)
    assert COMMON.match(sent), sent
    lost = len(written_by(writes, 1) + written_by(writes, 2))
    assert f"keyboard: vm-a; {lost} characters of other VMs are lost".encode() in sent


def test_lines_of_the_hypervisor_wait_for_the_end_of_exclusive_use():
    begin()
    key(ALONE)
    assert CORE.testbed_vm_start(0, 1)
    assert CORE.testbed_vm_stop(0, 1, False)
    assert CORE.testbed_run_until_idle()
    assert CORE.host_output() == b""
    sent = key(b"\x14n")
    assert b"vm-b stopped by the console" in sent
    assert b"keyboard: vm-b\r\n" in sent


@pytest.mark.parametrize("keys", [b"\x14a", b"\x14h", b"\x141", b"\x14" + TO_LINES])
def test_no_unfiltered_output_after_the_screen_is_restored(keys):
    """Although the VM continues to write, and some of its output is still to be sent."""
    begin()
    key(ALONE)
    CORE.testbed_write(0, b"\x1b[6n" * 40, 160, False)
    sent = key(keys)
    end = sent + write([(0, b"\x1b[6n" * 100 + b"\n")])
    assert b"\x1b[6n" not in end[COMMON.search(end).end() :] if COMMON.search(end) else keys[1:2] == b"\x14"


@given(st.lists(st.sampled_from([b"a", b"\x14", b"h", b"xyz"]), max_size=12))
@SETTINGS
def test_keys_are_parsed_however_they_are_split(pieces):
    keys = Keys()
    whole = b"".join(pieces)
    apart = b"".join(piece for part in pieces for piece in keys.feed(part))
    assert apart == b"".join(Keys().feed(whole)) == whole[: len(apart)]
    assert all(piece[:1] != b"\x14" or len(piece) == 2 for piece in Keys().feed(whole))


LINE = st.text("abc ", min_size=1, max_size=60).map(str.encode)


@given(st.lists(st.tuples(st.integers(0, 1), LINE, st.booleans(), st.booleans()), max_size=25), st.integers(1, 50))
@SETTINGS
def test_file_output_has_every_line_once_and_whole(events, size):
    """Also lines that grow on a terminal between other VMs' lines, and lines split after a
    timeout."""
    output, lines = begin(), [[b""], [b""]]
    for vm, text, ends, waits in events:
        output += write([(vm, text + (b"\n" if ends else b""))])
        lines[vm][-1] += text
        lines[vm] += [b""] if ends else []
        if waits:
            flush_unfinished_lines(2)
            output += CORE.host_output()
    flush_unfinished_lines(2)
    output += CORE.host_output()
    whole = WholeLines()
    shown = b"".join(whole.feed(output[at : at + size]) for at in range(0, len(output), size))
    for vm, name in enumerate((b"vm-a", b"vm-b")):
        got = re.findall(rb"^\x1b\[\d+m" + name + rb" +\|\x1b\[0m (.*)\r$", shown, re.MULTILINE)
        assert got == lines[vm][:-1]
    rest = whole.end()
    assert all(left[-1] in rest for left in lines)


def test_endless_line_is_not_kept():
    begin()
    output = write([(0, b"x" * 100)] * (3 * LINE_MAX // 100) + [(0, b"end\n")])
    shown = WholeLines().feed(output)
    assert LINE_MAX <= max(len(line) for line in shown.split(b"\n")) < LINE_MAX + 1000
    assert shown.count(b"x") == output.count(b"x")
