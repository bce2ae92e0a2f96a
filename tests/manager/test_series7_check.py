# SPDX-License-Identifier: Apache-2.0
"""
The check of bitstreams for a 7-series device at boot (devices/accel/series7.c), against the reader of tessera.fabric,
which compares checksums, too: here it does not.
"""

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_uint32, c_ulong, c_void_p

import pytest
import series7_writer as writer
from c_headers import structures
from core import CORE, LONG
from hypothesis import given, settings
from hypothesis import strategies as st
from series7_writer import Writer, write1, write2
from test_streams import DEVICE, FIRST, REGION, edited, refusals

from tessera.fabric import series7
from tessera.fabric.bitstream import wrap

Header, Frames = structures("accel_image.h", "accel_image accel_image_frames")
IDCODE = series7.IDCODES["xc7k325t"]
BLOCKS = [series7.Frames(0x0042_0580, 1), series7.Frames(0x00C2_0100, 2)]
OTHERS = [series7.Frames(0x0040_0000, 1)]  # of another region
FRAME = 101
CORE.testbed_accel_idcode.restype, CORE.testbed_accel_idcode.argtypes = None, [c_uint32]


class Finding(ctypes.Structure):
    _fields_ = [("what", c_char_p), ("word", c_ulong)]


CORE.accel_check_series7.restype = Finding
CORE.accel_check_series7.argtypes = [POINTER(c_uint32), c_ulong, c_ulong, c_uint32]


class Image(ctypes.Structure):
    _fields_ = [("header", Header), ("frames", Frames * 3)]


def image() -> Image:
    """A section whose region REGION has BLOCKS; another one has OTHERS."""
    made = Image()
    made.header.idcode, made.header.nframes, made.header.frames_offset = IDCODE, 3, Image.frames.offset
    for place, (region, block) in enumerate([(REGION, BLOCKS[0]), (REGION + 1, OTHERS[0]), (REGION, BLOCKS[1])]):
        made.frames[place].region, made.frames[place].first, made.frames[place].count = region, block.first, block.count
    return made


IMAGE = image()


@contextmanager
def with_image() -> Iterator[None]:
    place = c_void_p.in_dll(CORE, "accels")  # its first member is `image`
    before, place.value = place.value, ctypes.addressof(IMAGE)
    try:
        yield
    finally:
        place.value = before


def refused(words: list[int]) -> tuple[str | None, int]:
    """What the hypervisor's check says, and the word at which it says so. A word around the body must not be read."""
    memory = (c_uint32 * (len(words) + 2))(writer.SYNC, *words, writer.SYNC)
    with with_image():
        found = CORE.accel_check_series7(memory, 1, 1 + len(words), REGION)
    return found.what.decode() if found.what else None, found.word - 1


class Uncompared(series7._Checker):
    """Takes any checksum, and none."""

    def __init__(self, idcode: int) -> None:
        super().__init__(idcode)
        self.compared = 1

    def _compare(self, where: str, expected: int) -> None:
        pass


def refused_by_reader(words: list[int], patch: pytest.MonkeyPatch) -> str | None:
    with patch.context() as changed:
        changed.setattr(series7, "_Checker", Uncompared)
        try:
            series7.check(tuple(words), IDCODE, BLOCKS)
        except series7.Series7Error as error:
            return str(error)
    return None


def of_region(**parts: list[int]) -> Writer:
    """A bitstream that writes all frames of the region."""
    return Writer(blocks=[(block.first, block.count) for block in BLOCKS], **parts)


GOOD = of_region().words()
SHORT = Writer(blocks=[(BLOCKS[1].first, 1), (BLOCKS[0].first, 1)])


@pytest.mark.parametrize("words", [GOOD, SHORT.words(), Writer(blocks=[(BLOCKS[0].first, 1)], with_crc=False).words()])
def test_bitstreams_of_the_region(words: list[int]) -> None:
    assert refused(words)[0] is None


FAR, WCFG = write1(writer.FAR, BLOCKS[0].first), write1(writer.CMD, writer.WCFG)
DATA = [0] * FRAME
NOT_ITS = "it writes frames that are not the region's"
NO_ADDRESS = "it writes frames without IDCODE, WCFG and a frame address before them"
NO_PACKET = "it has a word that is no packet that writes"
AFTER = "it has words after DESYNC, which ends a bitstream"
NO_COMMAND = "it has a command that a partial bitstream does not need"
NEEDLESS = "it writes a register that a partial bitstream does not need"
CASES = {
    "frames of another region": (Writer(blocks=[(OTHERS[0].first, 1)]).words(), NOT_ITS),
    "frames of nobody": (Writer(blocks=[(BLOCKS[0].first + 1, 1)]).words(), NOT_ITS),
    "a frame too many": (Writer(blocks=[(BLOCKS[0].first, 2)]).words(), NOT_ITS),
    "part of a frame": (of_region(extra=[*FAR, *WCFG, *write1(writer.FDRI, *DATA[1:])]).words(), NOT_ITS),
    "a second write behind the first": (
        Writer(blocks=[], extra=[*FAR, *WCFG, *write1(writer.FDRI, *DATA), *write1(writer.FDRI, *DATA)]).words(),
        NO_ADDRESS,
    ),
    "no address": (Writer(blocks=[], extra=[*WCFG, *write1(writer.FDRI, *DATA)]).words(), NO_ADDRESS),
    "no command": (Writer(blocks=[], extra=[*FAR, *write1(writer.FDRI, *DATA)]).words(), NO_ADDRESS),
    "no IDCODE": (
        [writer.SYNC, *FAR, *WCFG, *write1(writer.FDRI, *DATA), *write1(writer.CMD, writer.DESYNC)],
        NO_ADDRESS,
    ),
    "another device": (Writer(idcode=0x3622D093).words(), "it is for another device"),
    "IPROG": (Writer(extra=write1(writer.CMD, 15)).words(), NO_COMMAND),
    "a hidden IPROG": (
        Writer(extra=write1(writer.CMD, 15, 0)).words(),
        "it writes several words to a register that takes one",
    ),
    "WBSTAR": (Writer(extra=write1(16, 0)).words(), NEEDLESS),
    "compressed": (Writer(extra=write1(10, 0)).words(), NEEDLESS),
    "a read": (Writer(extra=[1 << 29 | 1 << 27 | 2 << 13 | 1, 0]).words(), NO_PACKET),
    "a packet of type 0": (Writer(extra=[0]).words(), NO_PACKET),
    "type 2 after a NOP": (
        Writer(extra=[*FAR, *WCFG, 1 << 29 | 2 << 27 | 2 << 13, writer.NOP, *write2(2, DATA)[1:]]).words(),
        NO_PACKET,
    ),
    "type 3 after a write without words": (
        Writer(blocks=[], extra=[*FAR, *WCFG, *write1(writer.FDRI), 3 << 29 | 2 << 27 | FRAME, *DATA]).words(),
        NO_PACKET,
    ),
    "a second sync word": (of_region(end=[*write1(writer.CMD, writer.DESYNC), writer.SYNC]).words(), AFTER),
    "after DESYNC": (
        of_region(end=[*write1(writer.CMD, writer.DESYNC), *FAR]).words(),
        AFTER,
    ),
    "hidden by a NOP after DESYNC": ([*GOOD, 0x20000003, writer.SYNC, *write1(writer.CMD, 15)], AFTER),
    "hidden by a write without words": (
        [*GOOD, *write1(writer.FAR), 2 << 29 | 3, writer.SYNC, *write1(writer.CMD, 15)],
        AFTER,
    ),
    "hidden by a NOP": (of_region(extra=[0x20000002, *write1(writer.CMD, 15)]).words(), NO_PACKET),
    "reserved bits of the register": (of_region(extra=[1 << 29 | 2 << 27 | 0x204 << 13 | 1, 0]).words(), NO_PACKET),
    "reserved bits of the count": (of_region(extra=[1 << 29 | 2 << 27 | 4 << 13 | 1 << 11 | 1, 0]).words(), NO_PACKET),
    "SHUTDOWN": (of_region(extra=write1(writer.CMD, 11)).words(), NO_COMMAND),
    "AGHIGH": (of_region(extra=write1(writer.CMD, 8)).words(), NO_COMMAND),
    "the first command of more bits": (of_region(extra=write1(writer.CMD, 32)).words(), NO_COMMAND),
    "a command of more bits": (of_region(extra=write1(writer.CMD, 32 + 7)).words(), NO_COMMAND),
    "a word too few": ([*GOOD[:-4], 1 << 29 | 2 << 27 | writer.FAR << 13 | 1], "a packet is longer than the rest"),
    "longer than the body": (GOOD[:-40], "a packet is longer than the rest"),
    "no DESYNC": (GOOD[:-4], "it writes no frames, or has no end"),
    "no frames": (Writer(blocks=[]).words(), "it writes no frames, or has no end"),
    "no sync word": ([word for word in GOOD if word != writer.SYNC], "it writes no frames, or has no end"),
    "nothing": ([], "it writes no frames, or has no end"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, why = CASES[name]
    assert refused(words)[0] == why
    assert refused_by_reader(words, monkeypatch) is not None


SPECIAL = st.sampled_from(
    [
        *(write1(writer.FAR, 0)[0], write1(writer.FDRI)[0], write1(writer.CMD, 0)[0], *FAR, *WCFG, writer.SYNC),
        *(writer.NOP, writer.DESYNC, 2 << 29 | 2 << 27 | FRAME, 1 << 29 | 2 << 27 | 2 << 13 | FRAME, OTHERS[0].first),
    ]
)
WORD = st.one_of(SPECIAL, st.integers(0, 2**32 - 1), st.integers(0, 31))
EDIT = st.tuples(st.integers(0, 60), st.sampled_from(["flip", "put", "insert", "delete", "copy"]), WORD)


def edited_words(words: list[int], edits: list[tuple[int, str, int]]) -> list[int]:
    """Changes of packets' heads; data of frames are left out, of which a single word is enough to change."""
    made = list(words)
    for at, kind, word in edits:
        at = min(at, len(made) - 1) if kind != "copy" else len(made) - 1 - at % 30
        if kind == "flip":
            made[at] ^= 1 << word % 32
        elif kind == "put":
            made[at] = word
        elif kind == "delete":
            del made[at]
        else:
            made.insert(at, word)
    return made


@pytest.mark.slow
@settings(max_examples=20000 if LONG else 1500, deadline=None)
@given(st.sampled_from([GOOD, SHORT.words()]), st.lists(EDIT, min_size=1, max_size=4))
def test_check_and_reader_agree(words: list[int], edits: list[tuple[int, str, int]]) -> None:
    made = edited_words(words, edits)
    with pytest.MonkeyPatch.context() as patch:
        assert (refused(made)[0] is None) == (refused_by_reader(made, patch) is None), made


def test_an_image_for_a_device() -> None:
    """Checked at boot as a whole: those for the simulation's ICAP are refused, that for the device is not."""
    made = Writer(blocks=[(FIRST, 1)]).words()
    made += [writer.NOP] * (len(made) % 2 == 0)  # the whole is a multiple of 8 bytes
    data = wrap(REGION, DEVICE + 1, struct.pack(f"<{len(made)}I", *made))
    CORE.testbed_accel_idcode(IDCODE)
    try:
        with edited(lambda streams: streams.sign(data)) as machine:
            lines = refusals(machine)
            named = f"the bitstream of {chr(ord('a') + DEVICE)} for region {REGION} "
            assert lines and not any(named in line for line in lines)
            assert all("it writes no frames, or has no end, at byte" in line for line in lines)
    finally:
        CORE.testbed_accel_idcode(0)
