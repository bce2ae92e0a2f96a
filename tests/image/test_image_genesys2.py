# SPDX-License-Identifier: Apache-2.0
"""A system with bitstreams of Vivado, for a board whose regions have the frames that these write (docs/fabric.md)."""

import json

import pytest
from fixtures import ROOT
from image_reader import read_image
from partials import BLOCKS, put_partial
from series7_writer import Writer
from test_image_accelerators import parsed

import bit2simb
from tessera.fabric import series7
from tessera.image.accel import accel_image

TEXT = (ROOT / "systems" / "genesys2-accelerators.dts").read_text()
FRAMES_FILE = "genesys2/frames.json"
GUEST = "dma_qam/dma_qam.bin"


@pytest.fixture
def genesys2(builder):
    """The builder, with the guest and with what bit2simb.py makes of partial bitstreams."""
    put_partial(builder.guests / "genesys2")
    (builder.guests / GUEST).parent.mkdir()
    builder.file(GUEST, bytes(64))
    return builder


def test_section(genesys2):
    section = parsed(read_image(genesys2.build(TEXT).files["tessera.bin"]).sections[accel_image.TAG])
    assert (section.head.idcode, section.head.regions) == (series7.IDCODES["xc7k325t"], 3)
    listed = {region: [] for region in BLOCKS}
    for block in section.frames:
        listed[block.region].append((block.first, block.count))
    assert listed == BLOCKS


def put(builder, region, writer):
    """Another bitstream for the region, whose frames stay those of before."""
    data, _ = bit2simb.convert(writer.bin(), region, 1)
    (builder.guests / f"genesys2/1-{region}.bin").write_bytes(data)


@pytest.mark.parametrize(
    "blocks", [BLOCKS[1], [(0x0002_0000, 5)], [(0x0002_0001, 1)], [*BLOCKS[0], *BLOCKS[1]], [(0x0002_0001, 3)]]
)
def test_a_bitstream_with_other_frames_is_refused(genesys2, blocks):
    put(genesys2, 0, Writer(blocks=blocks))
    (message,) = genesys2.refuse(TEXT)
    assert (
        '"genesys2/1-0.bin" is not a bitstream for region 0: expected frames of the region, 4 from 0x20000' in message
    )


def test_a_bitstream_with_some_of_the_frames(genesys2):
    put(genesys2, 0, Writer(blocks=[(0x0080_0100, 1)]))
    genesys2.build(TEXT)


def test_a_bitstream_for_the_simulation_is_refused(genesys2):
    data = bit2simb.bitstream.simulated(0, 1, 65)
    (genesys2.guests / "genesys2/1-0.bin").write_bytes(data)
    (message,) = genesys2.refuse(TEXT)
    assert "is not a bitstream for region 0: expected the sync word" in message


BAD_FILES = [
    ({"0": [[1, 2]], "1": [[3, 4]]}, "KeyError: '2'"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": [[5]]}, "ValueError"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": [[5, 0]]}, "ValueError: 0 frames from 5"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": [[1 << 32, 1]]}, "ValueError: 1 frames from 4294967296"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": [[5, 1e999]]}, "ValueError: expected two whole numbers, got [5, inf]"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": [["5", True]]}, "ValueError: expected two whole numbers"),
    ({"0": [[1, 2]], "1": [[3, 4]], "2": 7}, "TypeError"),
    ([], "TypeError"),
]


@pytest.mark.parametrize(("content", "error"), BAD_FILES)
def test_a_broken_file_of_frames_is_named(genesys2, content, error):
    (genesys2.guests / FRAMES_FILE).write_text(json.dumps(content))
    (message,) = genesys2.refuse(TEXT)
    assert "/: board: expected blocks of frames for each of 3 regions in " in message
    assert f"{FRAMES_FILE}: {error}" in message


def test_no_json(genesys2):
    (genesys2.guests / FRAMES_FILE).write_text("{")
    (message,) = genesys2.refuse(TEXT)
    assert "frames.json: JSONDecodeError" in message


def test_too_many_blocks(genesys2):
    frames = {"0": [[at, 1] for at in range(63)], "1": [[100, 1]], "2": [[101, 1]]}
    (genesys2.guests / FRAMES_FILE).write_text(json.dumps(frames))
    (message,) = genesys2.refuse(TEXT)
    assert "expected at most 64 blocks of frames in " in message and message.endswith("got 65")


def test_no_file_of_frames(genesys2):
    (genesys2.guests / FRAMES_FILE).unlink()
    (message,) = genesys2.refuse(TEXT)
    assert f'/: board: expected a file, got "{FRAMES_FILE}", which does not exist' in message


def test_a_system_without_accelerators_needs_no_file(genesys2):
    (genesys2.guests / FRAMES_FILE).unlink()
    (genesys2.guests / "hello").mkdir()
    (genesys2.guests / "freertos").mkdir()
    genesys2.file("hello/hello.bin", bytes(64))
    genesys2.file("freertos/freertos.bin", bytes(64))
    genesys2.build((ROOT / "systems" / "genesys2.dts").read_text())


@pytest.mark.parametrize(
    ("put_instead", "message"),
    [
        ("idcode = <0x3651093>; frames = <0x000 40", "frames-file: expected together with idcode"),
        ('frames-file = "x.json"; frames = <0x000 40', "frames-file: expected together with idcode"),
        (
            'idcode = <0x3651093>; frames-file = "x.json"; frames = <0x000 40',
            "frames: expected only without frames-file",
        ),
    ],
)
def test_frames_of_a_board(builder, put_instead, message):
    builder.make_board(("frames = <0x000 40", put_instead))
    assert message in "\n".join(builder.refuse('/dts-v1/; / { compatible = "tessera,system"; board = "alt"; };'))
