#!/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Maps random bits to QAM16 symbols, and transforms them by an FFT of 512 points, on accelerators; compares both with
computations in Python. Both devices work at the same time: one frame is mapped while the one before it is transformed.

    python3 dsp.py [FRAMES]

A frame is 256 bytes, 512 symbols. Exit status 1 if a result is wrong.
"""

import cmath
import random
import struct
import sys

from accelerator import FFT512, QAM16, Accelerator, Memory

POINTS = 512
FRAME = POINTS // 2  # bytes: two symbols each
BYTES = 4 * POINTS  # of a frame's symbols or bins: two numbers of 16 bits each
HALVE_ALL = 0x1FF  # the FFT's command: each of the nine stages halves its results
LEVELS = {0b00: -3, 0b10: -1, 0b11: 1, 0b01: 3}  # Gray code, the first bit is the lower one
SCALE = 2**14 / 10**0.5  # a mean power of 1, 14 bits behind the point
TOLERANCE = 4  # units of the last bit of a bin: each stage rounds


def map_bits(data: bytes) -> list[int]:
    """Returns I and Q of each symbol."""
    halves = [byte >> shift & 3 for byte in data for shift in (0, 2, 4, 6)]
    return [round(LEVELS[half] * SCALE) for half in halves]


def transform(samples: list[complex]) -> list[complex]:
    """Returns the discrete Fourier transform, divided by the number of samples."""
    count = len(samples)
    if count == 1:
        return samples
    even, odd = transform(samples[::2]), transform(samples[1::2])
    turned = [one * cmath.exp(-2j * cmath.pi * k / count) for k, one in enumerate(odd)]
    return [(a + b) / 2 for a, b in zip(even, turned)] + [(a - b) / 2 for a, b in zip(even, turned)]  # noqa: B905


def numbers(data: bytes) -> list[int]:
    """Returns the signed numbers of 16 bits."""
    return list(struct.unpack(f"<{len(data) // 2}h", data))


def samples_of(pairs: list[int]) -> list[complex]:
    """Returns complex numbers of their parts."""
    return [complex(re, im) for re, im in zip(pairs[::2], pairs[1::2])]  # noqa: B905


def bin_at(position: int) -> int:
    """Returns the number of the bin at a position of the FFT's output, which is in bit-reversed order."""
    return int(f"{position:09b}"[::-1], 2)


def difference(symbols: bytes, bins: bytes) -> float:
    """Returns the largest difference of a part of a bin to that of transform()."""
    expected, found = transform(samples_of(numbers(symbols))), samples_of(numbers(bins))
    apart = [found[at] - expected[bin_at(at)] for at in range(POINTS)]
    return max(max(abs(one.real), abs(one.imag)) for one in apart)


def main() -> int:
    """Runs the frames and prints what came out."""
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    memory = Memory()
    wrong, largest, before = 0, 0.0, b""
    with Accelerator(QAM16, memory) as qam, Accelerator(FFT512, memory) as fft:
        for _ in range(frames):
            data = random.randbytes(FRAME)
            qam.start(data, BYTES)
            if before:
                fft.start(before, BYTES, HALVE_ALL)
                largest = max(largest, difference(before, fft.finish()[0]))
            symbols, _ = qam.finish()
            wrong += sum(a != b for a, b in zip(numbers(symbols), map_bits(data)))  # noqa: B905
            wrong += abs(len(symbols) - BYTES)
            before = symbols
        largest = max(largest, difference(before, fft.run(before, BYTES, HALVE_ALL)[0]))
        interrupts = qam.interrupts + fft.interrupts
    print(f"dsp: qam16: {frames} frames of {FRAME} bytes, {wrong} wrong numbers")
    print(f"dsp: fft512: {frames} frames of {POINTS} samples, largest difference {largest:.2f}, at most {TOLERANCE}")
    print(f"dsp: {'correct' if wrong == 0 and largest <= TOLERANCE else 'WRONG'}, slept until {interrupts} interrupts")
    return 0 if wrong == 0 and largest <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
