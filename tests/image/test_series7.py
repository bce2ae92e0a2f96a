# SPDX-License-Identifier: Apache-2.0
"""Vivado's partial bitstreams become the fabric's (tools/bit2simb.py): real packets, also broken ones."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import series7_writer as writer
from series7_writer import Writer, write1

import bit2simb
from tessera.fabric import bitstream, series7

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "bit2simb.py"


def test_a_bin_and_a_bit_file_are_read_alike():
    made = Writer()
    expected = [series7.Frames(*block) for block in made.blocks]
    for data in (made.bin(), made.bit()):
        partial = series7.read(data)
        assert partial.frames == expected
        assert list(partial.words) == made.words()


def test_the_checksum_is_that_of_the_shift_register():
    words = (0, 1, 0xFFFFFFFF, 0x12345678, 0xAA995566)
    for register in range(32):
        value = 0x5A5A5A5A
        for word in words:
            value = writer.crc(register, word, value)
        assert series7.checksum(register, words, 0x5A5A5A5A) == value


def test_the_sync_word_at_the_port_is_that_of_the_manual():
    assert series7.port_input(series7.SYNC) == 0x5599AA66


@pytest.mark.parametrize("padding", [0, 1])
def test_the_fabric_gets_the_words_in_their_order(padding):
    made = Writer(before=[writer.DUMMY] * (8 + padding))
    data, frames = bit2simb.convert(made.bit(), region=2, task=5)
    header = bitstream.read_header(data)
    assert (header.region, header.task) == (2, 5) and len(data) % bitstream.STEP == 0
    words = struct.unpack_from(f"<{header.words}I", data, 16)
    assert list(words[: len(made.words())]) == made.words()
    assert set(words[len(made.words()) :]) <= {writer.NOP} and header.words % 2 == 1
    assert sum(entry.count for entry in frames) == 135


BROKEN = [
    (Writer(before=[0x12345678]), "expected the sync word 0xaa995566"),
    (Writer(idcode=0x0362D093), "is for the device 0x0362d093, expected 0x03651093"),
    (Writer(with_crc=False), "it has no checksum"),
    (Writer(blocks=[]), "it writes no frames"),
    (Writer(end=[]), "expected DESYNC as its last command"),
    (Writer(end=[*write1(writer.CMD, writer.DESYNC), *write1(writer.FAR, 0)]), "after DESYNC, which ends a bitstream"),
    (Writer(extra=write1(16, 0)), "writes WBSTAR, as only a bitstream of the whole device does"),
    (Writer(extra=write1(17, 0)), "writes TIMER"),
    (Writer(extra=write1(writer.CMD, 15)), "the command IPROG would load the whole device anew"),
    (Writer(extra=write1(27, 0)), "writes register 27, which a partial bitstream does not need"),
    (Writer(extra=[*write1(10, *[0] * 4)]), "is compressed"),
    (Writer(extra=[1 << 29 | 1 << 27 | 2 << 13 | 1, 0]), "expected a write or NOP"),
    (Writer(extra=[0]), "expected a packet of type 1, or 2 after one of type 1, got 0x00000000"),
    (Writer(extra=write1(writer.FDRI, *[0] * 101)), "writes frames without the command WCFG"),
    (Writer(extra=[*write1(writer.FAR, 0), *write1(writer.CMD, 1), *write1(writer.FDRI, *[0] * 100)]), "whole frames"),
]


@pytest.mark.parametrize(("made", "error"), BROKEN, ids=[error[:30] for _, error in BROKEN])
def test_what_is_no_partial_bitstream_is_refused(made, error):
    with pytest.raises(series7.Series7Error, match=error):
        series7.read(made.bin())


def test_frames_before_the_device_was_identified_are_refused():
    data = Writer().bin()
    identified = struct.pack(">2I", *write1(writer.IDCODE, writer.DEVICE))
    assert data.count(identified) == 1
    with pytest.raises(series7.Series7Error, match="before the device's IDCODE was compared"):
        series7.read(data.replace(identified, struct.pack(">2I", writer.NOP, writer.NOP)))


def test_another_order_of_bits_or_bytes_is_named():
    words = Writer().words()
    little = struct.pack(f"<{len(words)}I", *words)
    swapped = bytes(int(f"{byte:08b}"[::-1], 2) for byte in Writer().bin())
    for data in (little, swapped):
        with pytest.raises(series7.Series7Error, match="the order of bits or bytes is another one"):
            series7.read(data)


def test_a_changed_or_missing_word_is_found():
    made = Writer(blocks=[(0x100, 2)])
    words = made.words()
    first, last = words.index(writer.SYNC) + 1, len(words) - 2  # the last two are NOPs
    for at in range(first, last):
        if words[at] == writer.NOP:
            continue
        for changed in ([words[at] ^ 0x40], []):
            data = words[:at] + changed + words[at + 1 :]
            with pytest.raises(series7.Series7Error):
                pytest.fail(f"word {at}: {series7.read(struct.pack(f'>{len(data)}I', *data)).frames}")


def test_a_truncated_file_is_refused():
    for data in (Writer().bin(), Writer().bit()):
        for length in (0, 1, 2, 12, 60, 90, 200, 4001, len(data) // 2, len(data) - 16):
            with pytest.raises(series7.Series7Error):
                series7.read(data[:length])


@pytest.mark.parametrize(("field", "error"), [(b"b\0", "no field 'b'"), (b"e\0", "no field 'e'")])
def test_a_damaged_header_is_named(field, error):
    data = Writer().bit()
    with pytest.raises(series7.Series7Error, match=error):
        series7.read(data.replace(field, b"x\0", 1))


def convert(folder, out):
    command = [sys.executable, str(PROGRAM), str(folder), "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_folder_is_converted(tmp_path):
    partial = tmp_path / "partial"
    partial.mkdir()
    other = Writer(blocks=[(0x0002_0000, 40)])
    (partial / "1-0.bin").write_bytes(Writer().bin())
    (partial / "1-0.bit").write_bytes(Writer().bit())
    (partial / "2-0.bit").write_bytes(Writer().bit())
    (partial / "5-1.bin").write_bytes(other.bin())
    done = convert(partial, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "region 0: 135 frames in 2 blocks\nregion 1: 40 frames in 1 blocks\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "1-0.bin",
        "2-0.bin",
        "5-1.bin",
        "frames.json",
    ]
    assert json.loads((tmp_path / "out" / "frames.json").read_text("utf-8"))["1"] == [[0x20000, 40]]
    assert bitstream.read_header((tmp_path / "out" / "5-1.bin").read_bytes()).task == 5


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({}, "found none"),
        ({"qam16-0.bin": Writer()}, "expected <task>-<region>.bin"),
        ({"1-0.bin": Writer(), "2-0.bin": Writer(blocks=[(0, 1)])}, "writes other frames than the first bitstream"),
        ({"1-0.bin": Writer(), "1-1.bin": Writer()}, "regions 0 and 1 both write frames from 0x420580"),
        ({"1-0.bin": Writer(end=[])}, "1-0.bin: expected DESYNC"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused(tmp_path, files, error):
    partial = tmp_path / "partial"
    partial.mkdir()
    for name, made in files.items():
        (partial / name).write_bytes(made.bin())
    done = convert(partial, tmp_path / "out")
    assert done.returncode == 1 and error in done.stderr
