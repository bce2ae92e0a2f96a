# SPDX-License-Identifier: Apache-2.0
"""
The G.722 codec of the ADPCM guests: bit-exact comparison with an independent codec for speech,
noise and extreme signals, and checksums of the guests that contain the codec.
"""

import ctypes
import re
import subprocess
from pathlib import Path

import g722_reference as reference
import numpy as np
import pytest
from conftest import CLOCK_HZ, COUNTED, simulate
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.run.runner import ROOT

FRAME = 160
LONG = 64000  # samples: 4 s


class Codec:
    """guests/sdk/accel/g722.c and guests/examples/adpcm/signal.c, compiled for the host."""

    def __init__(self, library: Path) -> None:
        self.code = ctypes.CDLL(str(library))
        for name in ("adpcm_encoder_size", "adpcm_decoder_size"):
            getattr(self.code, name).restype = ctypes.c_size_t

    def _run(self, side: str, data: np.ndarray, out: np.ndarray, octets: int, cuts: list[int]) -> np.ndarray:
        state = ctypes.create_string_buffer(getattr(self.code, f"adpcm_{side}r_size")())
        getattr(self.code, f"g722_{side}r_init")(state)
        for begin, end in zip([0, *cuts], [*cuts, octets], strict=True):
            source = data.ctypes.data + begin * data.itemsize * (len(data) // max(octets, 1))
            target = out.ctypes.data + begin * out.itemsize * (len(out) // max(octets, 1))
            call = getattr(self.code, f"g722_{side}")
            call(state, ctypes.c_void_p(source), ctypes.c_void_p(target), ctypes.c_size_t(end - begin))
        return out

    def encode(self, samples: np.ndarray, cuts: list[int] | None = None) -> np.ndarray:
        octets = len(samples) // 2
        return self._run("encode", samples.astype(np.int16), np.zeros(octets, np.uint8), octets, cuts or [])

    def decode(self, codes: np.ndarray, cuts: list[int] | None = None) -> np.ndarray:
        out = np.zeros(2 * len(codes), np.int16)
        return self._run("decode", codes.astype(np.uint8), out, len(codes), cuts or [])

    def signal(self, count: int) -> np.ndarray:
        samples = np.zeros(count, np.int16)
        self.code.adpcm_signal(ctypes.c_void_p(samples.ctypes.data), ctypes.c_size_t(count))
        return samples


@pytest.fixture(scope="module")
def codec(tmp_path_factory: pytest.TempPathFactory) -> Codec:
    sdk, guest = ROOT / "guests" / "sdk", ROOT / "guests" / "examples" / "adpcm"
    library = tmp_path_factory.mktemp("adpcm") / "libadpcm.so"
    command = ["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{guest}"]
    command += [f"-I{sdk / 'include'}"]
    command += ["-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", str(library)]
    sources = [sdk / "accel" / "g722.c", guest / "signal.c", ROOT / "tests" / "guests" / "adpcm_host.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    return Codec(library)


def same(left: np.ndarray, right: np.ndarray) -> None:
    """Asserts equality; the message has the first difference only."""
    assert len(left) == len(right)
    differing = np.flatnonzero(left != right)
    assert not len(differing), (
        f"{len(differing)} differ, first {differing[0]}: {left[differing[0]]} {right[differing[0]]}"
    )


def gliding_formants(generator: np.random.Generator) -> np.ndarray:
    """Three gliding tones with a pulsing envelope, noise and pauses; a third of the signal is
    clipped."""
    time = np.arange(LONG) / 16000
    tones = np.zeros(LONG)
    for base, span, rate in ((500, 250, 1.3), (1500, 700, 0.7), (2600, 400, 2.1)):
        phase = 2 * np.pi * np.cumsum(base + span * np.sin(2 * np.pi * rate * time)) / 16000
        tones += np.sin(phase)
    voice = tones * (0.6 + 0.4 * np.sign(np.sin(2 * np.pi * 120 * time))) * (np.sin(2 * np.pi * 1.7 * time) > -0.5)
    loud = np.select([time < 1.3, time < 2.6], [300.0, 6000.0], 30000.0)
    samples = loud * (voice + 0.02 * generator.standard_normal(LONG))
    return np.clip(samples, -32768, 32767).astype(np.int16)


def sweep() -> np.ndarray:
    time = np.arange(LONG) / LONG
    return (30000 * np.sin(2 * np.pi * 4000 * 0.5 * time**2 * 4)).astype(np.int16)


def impulse() -> np.ndarray:
    samples = np.zeros(2000, np.int16)
    samples[[3, 1000, 1400]] = [32767, -32768, 1]
    return samples


def overshoot(high: bool) -> np.ndarray:
    """One band at its limit until the predictor has adapted, then the signal that exceeds the limit
    by the most."""
    signs = np.tile(np.r_[np.ones(600), np.sign(reference.FILTER), np.ones(80), -np.sign(reference.FILTER)], 8)
    return 32767 * signs * np.where(np.arange(len(signs)) % 2 == 0, -1 if high else 1, 1)


def signals() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(722)
    squares = {f"square-{period}": np.where(np.arange(8000) // period % 2, 32767, -32768) for period in (1, 2, 7, 100)}
    return {
        "formants": gliding_formants(generator),
        "noise": generator.integers(-32768, 32768, LONG),
        "quiet-noise": generator.integers(-40, 41, LONG),
        "silence": np.zeros(4000),
        "full-scale": np.full(4000, -32768),
        "impulse": impulse(),
        "sweep": sweep(),
        "overshoot-low": overshoot(high=False),
        "overshoot-high": overshoot(high=True),
        **squares,
    }


SIGNALS = {name: samples.astype(np.int16) for name, samples in signals().items()}


@pytest.mark.parametrize("name", SIGNALS)
def test_codes_and_samples_match_the_reference(codec: Codec, name: str) -> None:
    codes = codec.encode(SIGNALS[name])
    same(codes, reference.encode(SIGNALS[name]))
    same(codec.decode(codes), reference.decode(codes))


def test_the_guests_signal(codec: Codec) -> None:
    samples = codec.signal(LONG)
    codes = codec.encode(samples)
    same(codes, reference.encode(samples))
    same(codec.decode(codes), reference.decode(codes))
    loud = np.abs(samples.reshape(-1, FRAME).astype(int)).max(axis=1)
    assert loud.min() < 50, "the signal has no pauses"
    assert loud.max() >= 32767, "the signal has no clipped peaks"


def octets(name: str) -> np.ndarray:
    generator = np.random.default_rng(64)
    return {
        "random": generator.integers(0, 256, LONG // 2),
        "each-for-long": np.repeat(np.arange(256), 100),
        "never-sent": generator.integers(0, 4, 8000) | generator.integers(0, 4, 8000) << 6,
    }[name]


@pytest.mark.parametrize("name", ["random", "each-for-long", "never-sent"])
def test_octets_decode_as_by_the_reference(codec: Codec, name: str) -> None:
    same(codec.decode(octets(name)), reference.decode(octets(name)))


def test_predictor_limits_each_sum(codec: Codec) -> None:
    """The loudest code until all coefficients are at their limits, then others: the case that
    differs from spandsp."""
    turning = np.tile(np.r_[np.full(600, 0xA0), np.full(3, 0x04), np.full(3, 0xA0), np.full(30, 0x04)], 4)
    expected, overflowed = reference.model_decode(turning)
    assert overflowed
    same(codec.decode(turning), expected)
    assert (expected != reference.decode(turning)).any(), "spandsp now limits each sum: the model can be removed"


@pytest.mark.parametrize("name", SIGNALS)
def test_reference_equals_spandsp_without_overflow(name: str) -> None:
    """Validates the reference's convolutions, which may differ from spandsp only in the missing
    limits."""
    samples = SIGNALS[name]
    bands = reference.split(samples)
    if all(band.min() >= -16384 and band.max() <= 16383 for band in bands):
        same(reference.encode(samples), reference.whole_encode(samples))
    codes = reference.whole_encode(samples)
    # spandsp wraps around.
    same(reference.decode_unlimited(codes).astype(np.int16), reference.whole_decode(codes))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_samples(codec: Codec, data: st.DataObject) -> None:
    """Runs of constant, alternating and random values, split into calls anywhere: only the state is
    kept."""
    level = st.one_of(st.integers(-32768, 32767), st.sampled_from([-32768, -1, 0, 1, 32767]))
    runs = data.draw(st.lists(st.tuples(st.integers(1, 60), level, level), min_size=1, max_size=12))
    samples = np.concatenate([np.resize([first, second], 2 * length) for length, first, second in runs])
    cut = data.draw(st.integers(0, len(samples) // 2))
    codes = codec.encode(samples, [cut])
    decoded, overflowed = reference.model_decode(codes)
    same(codec.decode(codes, [cut]), decoded)
    if not overflowed:
        same(codes, reference.encode(samples))


@settings(max_examples=150, deadline=None)
@given(runs=st.lists(st.tuples(st.binary(min_size=1, max_size=4), st.integers(1, 100)), min_size=1, max_size=8))
def test_any_octets(codec: Codec, runs: list[tuple[bytes, int]]) -> None:
    codes = np.frombuffer(b"".join(pattern * times for pattern, times in runs), np.uint8)
    decoded, overflowed = reference.model_decode(codes)
    same(codec.decode(codes), decoded)
    if not overflowed:
        same(decoded, reference.decode(codes))


def checksum(values: np.ndarray) -> int:
    """As computed by guests/examples/adpcm/work.c."""
    total = 2166136261
    for value in values.tolist():
        total = (total ^ value) * 16777619 & 0xFFFFFFFF
    return total


@pytest.mark.parametrize(
    ("guest", "ticks_per_second"), [("adpcm-bare", 0), ("adpcm-freertos", 100), ("adpcm-model", 1000)]
)
def test_checksums_of_guests(boot, codec: Codec, guest: str, ticks_per_second: int) -> None:
    frames = 400
    machine = boot(guest, *COUNTED, "-append", f"frames={frames} begin=1000000")
    found = machine.expect(guest, rf"^ADPCM frames {frames} codes 0x(\w+) samples 0x(\w+) ticks (\d+)")
    machine.expect(guest, r"^BENCH done")
    assert machine.status(30) == 0
    codes = reference.encode(codec.signal(frames * FRAME))
    samples = reference.decode(codes)
    assert (int(found[1], 16), int(found[2], 16)) == (checksum(codes), checksum(samples.astype(np.uint16)))
    marks = [int(mark) for mark in re.findall(r"^ADPCM mark \d+ (\d+)$", machine.console.text(guest), re.MULTILINE)]
    assert len(marks) == 11 and marks == sorted(marks)
    seconds = (marks[-1] - marks[0]) * 1e-9  # an instruction is a nanosecond
    assert abs(int(found[3]) - seconds * ticks_per_second) <= 1


@pytest.mark.parametrize(
    ("guest", "ticks_per_second"), [("adpcm-bare", 0), ("adpcm-freertos", 100), ("adpcm-model", 1000)]
)
def test_checksums_of_mips_guests(codec: Codec, guest: str, ticks_per_second: int) -> None:
    frames = 100
    run = simulate(guest)
    assert run.code == 0, run.remarks
    found = re.search(rf"^ADPCM frames {frames} codes 0x(\w+) samples 0x(\w+) ticks (\d+)$", run.printed, re.MULTILINE)
    assert found and "BENCH done" in run.printed, run.printed
    codes = reference.encode(codec.signal(frames * FRAME))
    samples = reference.decode(codes)
    assert (int(found[1], 16), int(found[2], 16)) == (checksum(codes), checksum(samples.astype(np.uint16)))
    marks = [int(mark) for mark in re.findall(r"^ADPCM mark \d+ (\d+)$", run.printed, re.MULTILINE)]
    assert len(marks) == 11 and marks == sorted(marks)
    assert abs(int(found[3]) - (marks[-1] - marks[0]) / CLOCK_HZ * ticks_per_second) <= 1


@pytest.mark.parametrize(("bootargs", "why"), [("frames=9", "frames="), ("frames=20 begin=1", "begin=")])
def test_invalid_bootargs_are_reported(boot, bootargs: str, why: str) -> None:
    machine = boot("adpcm-bare", *COUNTED, "-append", bootargs)
    machine.expect("adpcm-bare", rf"^BENCH failed: {why}")
    machine.status(30)
