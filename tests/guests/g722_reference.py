# SPDX-License-Identifier: Apache-2.0
"""
The reference for the G.722 codec: the codec of spandsp 0.0.6 as packaged by Debian, which is tested
with the digital test sequences of the recommendation. The alternative, ffmpeg, needs 100 MB of
packages.

spandsp's quadrature mirror filters have no overflow control: values that clauses 5.2.1 and 5.2.2
limit are not limited (encoder) or wrap around at 16 bits (decoder). So the reference consists of
two independent parts:

 - the adaptive part (clause 6) is spandsp's, in its mode for the ITU's test sequences, which omits the filters; in that
   mode the encoder codes the same signal in both bands, so it runs once for each band;
 - the filters (clause 5) are a convolution by numpy, with the limits.

Without overflow, spandsp as a whole (`whole_*`, without this convolution) must give the same
result.

One difference in clause 6 remains: FILTEZ adds six products, and the ITU's software limits each
partial sum to 16 bits, oldest product first, while spandsp limits only the last sum. Signals do not
reach these limits, but constructed octets do. `Band` models the decoder of one band in Python, to
compute the correct result and to detect this case.
"""

import ctypes
from ctypes import c_int, c_void_p
from pathlib import Path

import numpy as np

RATE = 64000  # bit/s: mode 1
OPTIONS = 0  # neither 8 kHz nor G722_PACKED
LOW, HIGH = 0x3F, 0xC0  # bits of an octet
# Table 11 of the recommendation, 2^12 is 1; the other half mirrors it.
_HALF = [3, -11, -11, 53, 12, -156, 32, 362, -210, -805, 951, 3876]
FILTER = np.array(_HALF + _HALF[::-1], dtype=np.int64)

_spandsp = ctypes.CDLL(str(next(Path("/usr/lib").glob("*/libspandsp.so.2"))))
for _side in ("encode", "decode"):
    getattr(_spandsp, f"g722_{_side}_init").restype = c_void_p
    getattr(_spandsp, f"g722_{_side}_init").argtypes = [c_void_p, c_int, c_int]
    getattr(_spandsp, f"g722_{_side}").argtypes = [c_void_p, c_void_p, c_void_p, c_int]
    getattr(_spandsp, f"g722_{_side}_free").argtypes = [c_void_p]


def _run(side: str, data: np.ndarray, out: np.ndarray, itu_test_mode: bool) -> np.ndarray:
    state = getattr(_spandsp, f"g722_{side}_init")(None, RATE, OPTIONS)
    # The first member of the state in 0.0.6; spandsp has no function that sets it.
    c_int.from_address(state).value = int(itu_test_mode)
    count = getattr(_spandsp, f"g722_{side}")(state, out.ctypes.data, data.ctypes.data, len(data))
    getattr(_spandsp, f"g722_{side}_free")(state)
    return out[:count]


def whole_encode(samples: np.ndarray) -> np.ndarray:
    """spandsp as a whole, including its filters."""
    return _run("encode", samples.astype(np.int16), np.zeros(len(samples) // 2, np.uint8), False)


def whole_decode(codes: np.ndarray) -> np.ndarray:
    """spandsp as a whole, including its filters."""
    return _run("decode", codes.astype(np.uint8), np.zeros(2 * len(codes), np.int16), False)


def _limit15(band: np.ndarray) -> np.ndarray:
    return np.clip(band, -16384, 16383)


def split(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clause 5.2.1 without its limits: the two bands, a value for each pair of samples."""
    signs = FILTER * np.where(np.arange(24) % 2 == 0, 1, -1)
    wide = samples.astype(np.int64)
    low, high = (np.convolve(wide, taps)[1 : len(wide) : 2] for taps in (FILTER, signs))
    return low >> 14, high >> 14


def _encode_band(band: np.ndarray) -> np.ndarray:
    """One band's signal coded as if it were both."""
    return _run("encode", (2 * _limit15(band)).astype(np.int16), np.zeros(len(band), np.uint8), True)


def encode(samples: np.ndarray) -> np.ndarray:
    """The octets that the recommendation defines for these samples."""
    low, high = split(samples)
    return (_encode_band(low) & LOW) | (_encode_band(high) & HIGH)


def _merge(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    samples = np.empty(2 * len(low), np.int64)
    samples[0::2] = np.convolve(low - high, FILTER[0::2])[: len(low)]
    samples[1::2] = np.convolve(low + high, FILTER[1::2])[: len(low)]
    return samples >> 11


def decode_unlimited(codes: np.ndarray) -> np.ndarray:
    """The decoded samples before the limit of clause 5.2.2."""
    bands = _run("decode", codes.astype(np.uint8), np.zeros(2 * len(codes), np.int16), True).astype(np.int64) >> 1
    return _merge(bands[0::2], bands[1::2])


def decode(codes: np.ndarray) -> np.ndarray:
    """The samples that the recommendation defines for these octets."""
    return np.clip(decode_unlimited(codes), -32768, 32767).astype(np.int16)


def _clip(value: int, low: int = -32768, high: int = 32767) -> int:
    return min(max(value, low), high)


def _sign(value: int) -> int:
    return -1 if value < 0 else 1


# Magnitudes of the quantizers' outputs, / 8; table 13 is a power of two.
_OQ6 = [17, 54, 91, 130, 170, 211, 254, 300, 347, 396, 447, 501, 558, 618, 682]
_OQ6 += [750, 822, 899, 982, 1072, 1170, 1279, 1399, 1535, 1689, 1873, 2088, 2376, 2738, 3101]
_OQ4 = [0, 150, 323, 530, 786, 1121, 1612, 2557]
_WL = [-60, -30, 58, 172, 334, 538, 1198, 3042]
_ILB = [round(2048 * 2 ** (n / 32)) for n in range(32)]


def _low_output(code: int) -> int:
    """Six bits: 61 to 32 are positive and grow, 63, 62, 31 to 4 negative and grow, 3 to 0 the least
    negative one."""
    if 32 <= code <= 61:
        return 8 * _OQ6[61 - code]
    return -8 * _OQ6[63 - code if code >= 62 else 33 - code if code >= 4 else 0]


class Band:
    """A slow decoder of one band by clause 6.2; `overflowed`: a sum within FILTEZ was limited."""

    def __init__(self, low: bool) -> None:
        self.low, self.overflowed = low, False
        self.nb, self.det, self.s, self.sz = 0, 32 if low else 8, 0, 0
        self.a, self.b = [0, 0], [0] * 6
        self.d, self.p, self.r = [0] * 6, [0, 0], [0, 0]

    def _quantized(self, code: int) -> tuple[int, int, int]:
        """The predictor's input, the output, and the change of the scale."""
        if not self.low:
            value, change = 8 * (-926, -202, 926, 202)[code], (798, -214)[code & 1]
            return value, value, change
        # 14 to 8 are positive and grow, 7 to 1 negative and fall, 15 and 0 are zero.
        upper = code >> 2
        value = 8 * _OQ4[15 - upper] if upper >= 8 else -8 * _OQ4[8 - upper & 7]
        rank = _OQ4.index(abs(value) // 8)
        return value, _low_output(code), _WL[rank]

    def step(self, code: int) -> int:
        coarse, fine, change = self._quantized(code)
        d, out = self.det * coarse >> 15, self.det * fine >> 15
        result = _clip(_clip(self.s + out), -16384, 16383)
        self.nb = _clip((self.nb * 127 >> 7) + change, 0, 18432 if self.low else 22528)
        shift = (self.nb >> 11) - (8 if self.low else 10)
        whole = _ILB[self.nb >> 6 & 31]
        self.det = (whole << shift if shift > 0 else whole >> -shift) << 2
        self._predict(d)
        return result

    def _predict(self, d: int) -> None:
        r, p = _clip(self.s + d), _clip(self.sz + d)
        for i, old in enumerate(self.d):
            push = 128 * _sign(d) * _sign(old) if d else 0
            self.b[i] = _clip((self.b[i] * 32640 >> 15) + push)
        wd = _clip(4 * self.a[0])
        wd = (_clip(-wd) if _sign(p) == _sign(self.p[0]) else wd) >> 7
        second = _clip(wd + 128 * _sign(p) * _sign(self.p[1]) + (self.a[1] * 32512 >> 15), -12288, 12288)
        first = 192 * _sign(p) * _sign(self.p[0]) + (self.a[0] * 32640 >> 15)
        self.a = [_clip(first, second - 15360, 15360 - second), second]
        self.d, self.p, self.r = [d, *self.d[:5]], [p, self.p[0]], [r, self.r[0]]
        self.sz = 0
        for i in reversed(range(6)):
            total = self.sz + (_clip(2 * self.d[i]) * self.b[i] >> 15)
            self.sz = _clip(total)
            self.overflowed |= total != self.sz
        poles = sum(_clip(2 * old) * a >> 15 for old, a in zip(self.r, self.a, strict=True))
        self.s = _clip(_clip(poles) + self.sz)


def model_decode(codes: np.ndarray) -> tuple[np.ndarray, bool]:
    """The samples by the model, and whether a sum within FILTEZ was limited."""
    low, high = Band(True), Band(False)
    lower = np.array([low.step(int(code) & LOW) for code in codes], np.int64)
    upper = np.array([high.step(int(code) >> 6) for code in codes], np.int64)
    return np.clip(_merge(lower, upper), -32768, 32767).astype(np.int16), low.overflowed or high.overflowed
