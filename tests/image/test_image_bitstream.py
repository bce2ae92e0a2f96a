# SPDX-License-Identifier: Apache-2.0
"""Bitstreams: what simb.py writes, and what the builder refuses. The fabric's benches configure regions
with the same bitstreams."""

import subprocess
import sys
from pathlib import Path

import pytest
from fixtures import ROOT

from tessera.fabric.bitstream import BitstreamError, Header, of_file, read_header, simulated, words_of, wrap

LONGEST_WORDS = 50_000  # half a millisecond at 100 MHz and one word a cycle


def refused(data: bytes) -> str:
    with pytest.raises(BitstreamError) as refusal:
        read_header(data)
    return str(refusal.value)


@pytest.mark.parametrize("region", range(8))
@pytest.mark.parametrize("task", [1, 5, 255])
def test_files_are_valid_bitstreams(region, task):
    data = of_file(f"{task}-{region}.bin")
    assert read_header(data) == Header(region, task, words_of(region))
    assert len(data) % 8 == 0
    assert words_of(region) <= LONGEST_WORDS


def test_larger_regions_take_longer():
    assert [words_of(region) for region in range(4)] == [4001, 8001, 16001, 16001]


@pytest.mark.parametrize(
    "name", ["0-0.bin", "256-0.bin", "05-0.bin", "5-8.bin", "5-00.bin", "5-0", "aes-0.bin", "-1-0.bin"]
)
def test_other_names_have_no_bitstream(name):
    assert of_file(name) is None


def test_every_flipped_byte_is_found():
    data = simulated(2, 5, 5)
    read_header(data)
    for at in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            refused(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])


def test_every_shorter_and_longer_bitstream_is_found():
    data = simulated(2, 5, 5)
    for size in range(len(data)):
        refused(data[:size])
    for more in range(1, 17):
        refused(data + bytes(more))


def test_messages():
    data = simulated(1, 3, 3)
    assert len(data) == 40
    assert refused(b"") == "expected 24 bytes or more, a multiple of 8, got 0"
    assert refused(data[:-4]) == "expected 24 bytes or more, a multiple of 8, got 36"
    assert refused(b"\x13" + data[1:]) == "expected 0x53494d42 (SIMB) as the first word, got 0x53494d13"
    assert refused(data + bytes(8)) == "expected 40 bytes, as its header says, got 48"
    assert refused(data[:5] + b"\1" + data[6:]).startswith("expected the CRC-32 of the header, 0x")
    assert refused(data[:-5] + b"\1" + data[-4:]).startswith("expected the CRC-32 of the body, 0x")


def test_empty_body():
    assert refused(wrap(0, 1, b"")) == "expected 24 bytes or more, a multiple of 8, got 20"


def simb(*names):
    command = [sys.executable, ROOT / "tools" / "simb.py", *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command_line(tmp_path):
    done = simb(tmp_path / "new" / "5-1.bin", tmp_path / "6-0.bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "new" / "5-1.bin").read_bytes() == of_file("5-1.bin")
    assert (tmp_path / "6-0.bin").read_bytes() == of_file("6-0.bin")
    done = simb(tmp_path / "aes-0.bin")
    expected = "expected <task>-<region>.bin with a task from 1 to 255 and a region from 0 to 7"
    assert (done.returncode, done.stderr) == (1, f"simb.py: {expected}, got aes-0.bin\n")
    assert not Path(tmp_path / "aes-0.bin").exists()
