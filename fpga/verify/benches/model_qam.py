# SPDX-License-Identifier: Apache-2.0
"""NumPy model of hwtask_qam16 and hwtask_qam64.

Bits come lowest first out of each byte. A symbol's first half of bits is I, the second Q; in each, the first bit is the
sign (1: positive) and the others are Gray code for the magnitude, as in IEEE 802.11. Levels 1, 3 (5, 7) are scaled to a
mean power of 1 and rounded to 14 fractional bits. An incomplete last symbol is padded with zero bits; a
missing second symbol of a beat is 0.
"""

import numpy as np

FRACTION = 14
# Levels in the order of the axis, and their bits (first one leftmost): neighbours differ in one bit.
GRAY = {
    4: {"00": -3, "01": -1, "11": 1, "10": 3},
    6: {"000": -7, "001": -5, "011": -3, "010": -1, "110": 1, "111": 3, "101": 5, "100": 7},
}
POWER = {4: 10, 6: 42}


def axis_table(bits_per_symbol):
    """Level for each value of an axis' bits, the first bit being the least significant."""
    gray = GRAY[bits_per_symbol]
    table = np.zeros(len(gray), np.int64)
    for bits, level in gray.items():
        table[int(bits[::-1], 2)] = np.rint(level * 2**FRACTION / np.sqrt(POWER[bits_per_symbol]))
    return table


def symbols(data, bits_per_symbol):
    """The symbols of `data`: an array of (I, Q)."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    bits = np.append(bits, np.zeros(-len(bits) % bits_per_symbol, np.uint8))
    half = bits_per_symbol // 2
    axes = bits.reshape(-1, half) @ (1 << np.arange(half))
    return axis_table(bits_per_symbol)[axes].reshape(-1, 2)


def run(data, bits_per_symbol):
    """The task's output, as bytes."""
    found = symbols(data, bits_per_symbol)
    if len(found) % 2:
        found = np.append(found, [[0, 0]], axis=0)
    return found.astype("<i2").tobytes()
