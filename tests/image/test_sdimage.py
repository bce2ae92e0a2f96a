# SPDX-License-Identifier: Apache-2.0
"""The SD card of the Genesys2 (tools/sdimage.py): read back by mtools, and what does not fit."""

import json
import struct
import subprocess

import pytest
from series7_writer import bit_file

import sdimage

BITSTREAM = bit_file(b"\xaa\x99\x55\x66" * 77)


@pytest.fixture
def files(tmp_path):
    contents = {"firmware": bytes(range(256)) * 40, "image": b"tessera!" * 100_001, "tree": b"\xd0\x0d\xfe\xed" * 9}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    return contents


def make(tmp_path, monkeypatch, *more, out="card.img"):
    arguments = [
        "--out",
        str(tmp_path / out),
        "--firmware",
        str(tmp_path / "firmware"),
        "--image",
        str(tmp_path / "image"),
    ]
    monkeypatch.setattr("sys.argv", ["sdimage.py", *arguments, *more])
    return sdimage.main(), tmp_path / out


def read(card, name):
    drive = f"{card}@@{sdimage.START * sdimage.SECTOR}"
    return subprocess.run(["mcopy", "-i", drive, f"::{name}", "-"], capture_output=True, check=True).stdout


def test_the_card_has_the_files(tmp_path, files, monkeypatch):
    (tmp_path / "genesys2.bit").write_bytes(BITSTREAM)
    more = ["--tree", str(tmp_path / "tree"), "--bitstream", str(tmp_path / "genesys2.bit")]
    code, card = make(tmp_path, monkeypatch, *more)
    assert code == 0
    assert read(card, "firmware.bin") == files["firmware"]
    assert read(card, "tessera.bin") == files["image"]
    assert read(card, "board.dtb") == files["tree"]
    assert read(card, "genesys2.bit") == BITSTREAM


def test_the_card_has_one_fat32_partition(tmp_path, files, monkeypatch):
    _, card = make(tmp_path, monkeypatch)
    data = card.read_bytes()[: (sdimage.START + 1) * sdimage.SECTOR]
    assert data[510:512] == b"\x55\xaa"
    kind, first, sectors = data[450], *struct.unpack_from("<II", data, 454)
    assert (kind, first) == (0x0C, sdimage.START) and data[462:510] == bytes(48)
    boot = data[first * sdimage.SECTOR :]
    each, reserved, tables = boot[13], *struct.unpack_from("<HB", boot, 14)
    total, table = struct.unpack_from("<II", boot, 32)
    assert boot[82:90] == b"FAT32   " and total == sectors
    assert (total - reserved - tables * table) // each >= 65525  # with less, LiteX takes it for FAT16


def test_boot_json_is_what_the_boot_program_reads(tmp_path, files, monkeypatch):
    _, card = make(tmp_path, monkeypatch, "--tree", str(tmp_path / "tree"))
    data = read(card, "boot.json")
    assert data.endswith(b"\0") and len(data) <= 1024
    members = json.loads(data[:-1])
    assert members == {
        "firmware.bin": "0x80000000",
        "tessera.bin": "0x80200000",
        "board.dtb": "0xbff00000",
        "r1": "0x0",
        "r2": "0xbff00000",
        "addr": "0x80000000",
    }
    assert all(isinstance(value, str) for value in members.values())  # LiteX takes strings only


def test_the_same_files_give_the_same_card(tmp_path, files, monkeypatch):
    _, first = make(tmp_path, monkeypatch)
    _, second = make(tmp_path, monkeypatch, out="second.img")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "size", "error"),
    [
        ("firmware", 0x20_0001, "2097153 bytes, expected 1 to 2097152: firmware.bin is loaded to 0x80000000"),
        ("image", 0, "0 bytes, expected 1 to"),
        ("image", 0x3FD0_0001, "tessera.bin is loaded to 0x80200000"),
        ("image", 280 << 20, "the card has"),
        ("image", None, "no such file (for tessera.bin)"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, files, monkeypatch, capsys, name, size, error):
    path = tmp_path / name
    path.unlink()
    if size is not None:
        with open(path, "wb") as file:
            file.truncate(size)
    code, card = make(tmp_path, monkeypatch)
    assert code == 1 and error in capsys.readouterr().err and not card.exists()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (BITSTREAM[13:], "expected a .bit file of Vivado, which begins with 00 09"),
        (BITSTREAM[:-4], "the header of a .bit file announces 308 bytes of bitstream, the file has 304"),
        (bytes(100), "expected a .bit file"),
        (b"", "expected a .bit file"),
        (None, "no such file"),
    ],
)
def test_what_is_no_bitstream_is_refused(tmp_path, files, monkeypatch, capsys, data, error):
    path = tmp_path / "genesys2.bit"
    if data is not None:
        path.write_bytes(data)
    code, card = make(tmp_path, monkeypatch, "--bitstream", str(path))
    assert code == 1 and f"{path}: {error}" in capsys.readouterr().err and not card.exists()


@pytest.mark.parametrize("name", ["r2.bin", "address.bin", "a" * 32])
def test_names_that_litex_cannot_read_are_refused(tmp_path, files, name):
    with pytest.raises(sdimage.CardError, match="LiteX cannot read this name"):
        sdimage.check([sdimage.Load(name, tmp_path / "image", sdimage.IMAGE, sdimage.TREE)])


def test_the_addresses_are_those_of_the_chip():
    rom = (sdimage.Path(__file__).resolve().parents[2] / "fpga" / "target" / "soc" / "rtl" / "soc_rom.sv").read_text(
        "utf-8"
    )
    assert "DeviceTree = 64'hbff0_0000" in rom and sdimage.TREE == 0xBFF0_0000
