# SPDX-License-Identifier: Apache-2.0
"""The HW tasks in software (guests/sdk/accel) against the models with which the RTL is compared."""

import ctypes
import subprocess
import sys
from pathlib import Path

import model_fft
import model_qam
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from rtl_tools import TOP

sys.path.insert(0, str(TOP / "tests" / "guests"))
import g722_reference

SDK = TOP / "guests" / "sdk"
DONE, RAGGED, UNKNOWN = range(3)
ROOM = 1 << 16  # bytes of output, at most


class Job(ctypes.Structure):
    """struct accel_job"""

    _fields_ = (
        ("command", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("custom", ctypes.c_uint32 * 8),
    )


class Result(ctypes.Structure):
    """struct accel_result"""

    _fields_ = (("fault", ctypes.c_uint32), ("code", ctypes.c_uint32), ("size", ctypes.c_uint32))


class Soft:
    """The tasks, compiled for the host with the undefined-behaviour sanitizer."""

    def __init__(self, library: Path) -> None:
        self.code = ctypes.CDLL(str(library))

    def run(self, task: str, data: bytes, command: int = 0, custom: bytes = bytes(32)) -> tuple[bytes, int]:
        """Output and result code; fails if the task writes more than it reports."""
        function = getattr(self.code, f"accel_soft_{task}")
        function.restype = Result
        source = ctypes.create_string_buffer(data, len(data) + 8)
        output = ctypes.create_string_buffer(b"\xa5" * ROOM, ROOM)
        job = Job(command, len(data), ctypes.addressof(source), ctypes.addressof(output))
        job.custom[:] = np.frombuffer(custom, "<u4").tolist()
        result = function(ctypes.byref(job))
        assert result.fault == 0
        assert result.size % 8 == 0
        assert output.raw[result.size :] == b"\xa5" * (ROOM - result.size)
        return output.raw[: result.size], result.code


@pytest.fixture(scope="module")
def soft(tmp_path_factory: pytest.TempPathFactory) -> Soft:
    library = tmp_path_factory.mktemp("accel") / "libaccel.so"
    command = ["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SDK / 'include'}"]
    command += ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", str(library)]
    sources = [*sorted((SDK / "accel").glob("soft_*.c")), SDK / "accel" / "g722.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    return Soft(library)


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(21)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


@pytest.mark.parametrize("bits", [4, 6])
def test_qam(soft, generator, bits):
    task = {4: "qam16", 6: "qam64"}[bits]
    for size in (*range(40), 2350):
        data = generator.bytes(size)
        assert soft.run(task, data) == (model_qam.run(data, bits), DONE)


def loud_and_quiet(generator: np.random.Generator, samples: int) -> list[bytes]:
    """Noise of several levels, and extremes, which saturate."""
    noise = [generator.integers(-1 << bits, 1 << bits, 2 * samples) for bits in (4, 8, 15)]
    return [
        part.astype("<i2").tobytes() for part in (*noise, generator.choice([-32768, -32767, 0, 32767], 2 * samples))
    ]


@pytest.mark.parametrize("points", [512, 1024])
def test_fft(soft, generator, points):
    task = f"fft{points}"
    codes = set()
    for command in (0, 0x155, 0x2AA, 0x3FF, *(1 << stage for stage in range(10))):
        for data in loud_and_quiet(generator, 2 * points):
            out, code = soft.run(task, data, command)
            assert (out, code) == model_fft.run(data, points, command)
            codes.add(code)
    assert codes == {0, 1}
    for size in (0, 1, 4, 7, 4 * points - 8, 4 * points - 1, 4 * points, 4 * points + 1, 8 * points + 12):
        data = generator.bytes(size)
        assert soft.run(task, data, 0x155) == model_fft.run(data, points, 0x155)


def aes_reference(data: bytes, command: int, custom: bytes) -> bytes:
    mode = {2: modes.CBC, 3: modes.CBC, 4: modes.CTR}.get(command)
    cipher = Cipher(algorithms.AES(custom[:16]), mode(custom[16:]) if mode else modes.ECB())
    side = cipher.decryptor() if command in (1, 3) else cipher.encryptor()
    return padded(side.update(data) + side.finalize())


@pytest.mark.parametrize("command", range(5))
def test_aes(soft, generator, command):
    for size in (0, 16, 32, 256, 2352):
        data, custom = generator.bytes(size), generator.bytes(32)
        assert soft.run("aes128", data, command, custom) == (aes_reference(data, command, custom), DONE)


def test_aes_counter_and_partial_blocks(soft, generator):
    for size in range(1, 50):
        data, custom = generator.bytes(size), generator.bytes(32)
        assert soft.run("aes128", data, 4, custom) == (aes_reference(data, 4, custom), DONE)
        if size % 16:
            assert soft.run("aes128", data, size % 4, custom) == (b"", RAGGED)
    for ones in (1, 4, 8, 15, 16):
        custom = generator.bytes(16) + b"\x01" * (16 - ones) + b"\xff" * ones
        assert soft.run("aes128", bytes(64), 4, custom) == (aes_reference(bytes(64), 4, custom), DONE)
    for command in (5, 7, 8, 1 << 31):
        assert soft.run("aes128", bytes(16), command) == (b"", UNKNOWN)


def test_g722(soft, generator):
    for octets in (*range(20), 800):
        level = generator.integers(0, 12)
        samples = (generator.integers(-32768, 32768, 2 * octets) >> level).astype(np.int16)
        codes = generator.integers(0, 256, octets).astype(np.uint8)
        encoded, decoded = b"", b""
        if octets:
            encoded = padded(g722_reference.encode(samples).tobytes())
            decoded = padded(g722_reference.decode(codes).astype("<i2").tobytes())
        assert soft.run("g722", samples.tobytes(), 0) == (encoded, DONE)
        assert soft.run("g722", codes.tobytes(), 1) == (decoded, DONE)


def test_g722_refuses(soft):
    for size in (1, 2, 3, 5):
        assert soft.run("g722", bytes(size), 0) == (b"", RAGGED)
    assert soft.run("g722", bytes(8), 2) == (b"", UNKNOWN)
