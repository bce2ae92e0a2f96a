# SPDX-License-Identifier: Apache-2.0
"""Bit-exact NumPy model of hwtask_fft512 and hwtask_fft1024.

Decimation in frequency, radix 2^2. Each of the log2(points) stages: sum and difference of samples half a block apart,
halved (rounding half to even) when the command's bit for the stage is set, saturated to 16 bits. Stages come in pairs.
Between the stages of a pair the second half of the second half is multiplied by -j; after a pair the sample at n of the
quarter (k1, k2) of a block of `size` is multiplied by W_size^(n * (k1 + 2 * k2)), a factor of 16 fractional bits, the
product rounded (half up) and saturated. Result: blocks of bins in bit-reversed order.
"""

import numpy as np

MOST, LEAST = 32767, -32768


class Fft:
    """One run; `over` is set when a value was saturated."""

    def __init__(self, points, command):
        self.points, self.command, self.over = points, command, False

    def _limit(self, values):
        limited = np.clip(values, LEAST, MOST)
        self.over |= bool(np.any(limited != values))
        return limited

    def _butterfly(self, blocks, stage):
        """Blocks of samples (.., size, 2) after one stage."""
        half = blocks.shape[-2] // 2
        first, second = blocks[..., :half, :], blocks[..., half:, :]
        out = np.concatenate([first + second, first - second], axis=-2)
        return self._limit((out + (out >> 1 & 1)) >> 1 if self.command >> stage & 1 else out)

    def _rotate(self, blocks):
        """The factors after a pair of stages on blocks of shape (.., k1, k2, n, 2)."""
        quarter = blocks.shape[-2]
        k1, k2, n = np.meshgrid([0, 1], [0, 1], np.arange(quarter), indexing="ij")
        angle = 2 * np.pi * n * (k1 + 2 * k2) / (4 * quarter)
        cos, sin = np.rint(65536 * np.cos(angle)).astype(np.int64), np.rint(-65536 * np.sin(angle)).astype(np.int64)
        re, im = blocks[..., 0], blocks[..., 1]
        turned = np.stack([re * cos - im * sin, re * sin + im * cos], axis=-1)
        return self._limit((turned + 32768) >> 16)

    @staticmethod
    def _minus_j(blocks):
        """Multiplies the samples with k1 = k2 = 1 of blocks of shape (.., k1, k2, n, 2) by -j; saturation of -(-32768)
        does not set `over`."""
        out = blocks.copy()
        out[..., 1, 1, :, 0] = blocks[..., 1, 1, :, 1]
        out[..., 1, 1, :, 1] = np.minimum(-blocks[..., 1, 1, :, 0], MOST)
        return out

    def run(self, samples):
        """Transforms blocks (any number, points, 2) of int64 into bins in bit-reversed order."""
        count, size, stage = len(samples), self.points, 0
        data = samples
        while size > 2:
            data = self._butterfly(data.reshape(-1, size, 2), stage).reshape(-1, 2, 2, size // 4, 2)
            data = self._minus_j(data)
            data = self._butterfly(data.reshape(-1, size // 2, 2), stage + 1)
            if size > 4:
                data = self._rotate(data.reshape(-1, 2, 2, size // 4, 2))
            size, stage = size // 4, stage + 2
        if size == 2:
            data = self._butterfly(data.reshape(-1, 2, 2), stage)
        return data.reshape(count, self.points, 2)


def bit_reverse(points):
    """The bin at each position of a block."""
    bits = points.bit_length() - 1
    return np.array([int(f"{at:0{bits}b}"[::-1], 2) for at in range(points)])


def blocks(data, points):
    """Bytes (re, im, 16 bits each) as blocks, the last one padded with zeros."""
    padded = data + bytes(-len(data) % (4 * points))
    return np.frombuffer(padded, "<i2").astype(np.int64).reshape(-1, points, 2)


def run(data, points, command):
    """The task's output, as bytes, and its result."""
    fft = Fft(points, command)
    out = fft.run(blocks(data, points))
    return out.astype("<i2").tobytes(), int(fft.over)
