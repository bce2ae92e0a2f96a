# SPDX-License-Identifier: Apache-2.0
"""The pixels that guests/examples/draw shows, in the same integers (pictures.c), and those of a screen."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

Rows = list[list[int]]  # of pixels, 0xrrggbb

BRIGHTEST, DARKEST, GRID_LEVEL = 255, 24, 64
ONE, ROUNDS = 1 << 12, 32
PERIOD, GRID = 64, 16
BAR_LINES, BAR_WIDTH, SPEED = 4, 16, 4


@dataclass(frozen=True)
class Picture:
    """What a VM draws: its rectangle, its colour."""

    x: int
    y: int
    width: int
    height: int
    colour: int
    wave: bool

    def rows(self, frame: int) -> Rows:
        """The pixels of a frame, with the bar in the last lines."""
        lines = self.height - BAR_LINES
        above = _wave(self.width, lines, self.colour, SPEED * frame) if self.wave else _fractal(self)[:lines]
        return [*above, *[self._bar(frame)] * BAR_LINES]

    def _bar(self, frame: int) -> list[int]:
        bar = [shade(self.colour, DARKEST)] * self.width
        for x in range(BAR_WIDTH):
            bar[(SPEED * frame + x) % self.width] = self.colour
        return bar

    def seen(self, screen: Rows) -> Rows:
        """The rectangle's pixels of a screen."""
        return [row[self.x : self.x + self.width] for row in screen[self.y : self.y + self.height]]

    def frame_of(self, screen: Rows, most: int = 1000) -> int | None:
        """The number of the frame that the rectangle shows; None: of none."""
        seen = self.seen(screen)
        return next((n for n in range(most) if self._bar(n) == seen[-1] and self.rows(n) == seen), None)

    def is_black(self, screen: Rows) -> bool:
        return not any(map(any, self.seen(screen)))


def shade(colour: int, level: int) -> int:
    return sum(((colour >> shift & BRIGHTEST) * level // BRIGHTEST) << shift for shift in (0, 8, 16))


def _divided(number: int, by: int) -> int:
    """As in C, towards 0."""
    return number // by if number >= 0 else -(-number // by)


def _rounds(real: int, imaginary: int) -> int:
    x = y = number = 0
    while number < ROUNDS and x * x + y * y < 4 * ONE * ONE:
        x, y = _divided(x * x - y * y, ONE) + real, _divided(x * y, ONE // 2) + imaginary
        number += 1
    return number


@cache
def _fractal(picture: Picture) -> Rows:
    step = 3 * ONE // picture.width
    left, middle = -2 * ONE - ONE // 4, picture.height // 2
    return [
        [
            shade(
                picture.colour,
                DARKEST + _rounds(left + x * step, (y - middle) * step) * (BRIGHTEST - DARKEST) // ROUNDS,
            )
            for x in range(picture.width)
        ]
        for y in range(picture.height)
    ]


def _wave_at(position: int, height: int) -> int:
    half = PERIOD // 2
    at = position % half
    away = at * (half - at) * (height // 2 - 1) // (half // 2) ** 2
    return height // 2 - away if position % PERIOD < half else height // 2 + away


@cache
def _wave(width: int, height: int, colour: int, phase: int) -> Rows:
    heights = [_wave_at(phase, height), *(_wave_at(phase + x, height) for x in range(width))]
    dark, grid = shade(colour, DARKEST), shade(colour, GRID_LEVEL)

    def pixel(x: int, y: int) -> int:
        if min(heights[x : x + 2]) <= y <= max(heights[x : x + 2]):
            return colour
        return grid if (x + phase) % GRID == 0 or y % GRID == 0 else dark

    return [[pixel(x, y) for x in range(width)] for y in range(height)]


def screen_of(file: Path) -> Rows:
    """The pixels of a PPM file; none before the first frame."""
    head, _, data = file.read_bytes().partition(b"\n")
    if not head:
        return []
    kind, width, height, most = head.split()
    assert (kind, most) == (b"P6", b"255")
    assert len(data) == 3 * int(width) * int(height)
    pixels = [int.from_bytes(data[at : at + 3], "big") for at in range(0, len(data), 3)]
    return [pixels[at : at + int(width)] for at in range(0, len(pixels), int(width))]


def outside(screen: Rows, pictures: list[Picture]) -> set[int]:
    """The colours of the pixels outside of rectangles."""
    return {
        pixel
        for y, row in enumerate(screen)
        for x, pixel in enumerate(row)
        if not any(p.x <= x < p.x + p.width and p.y <= y < p.y + p.height for p in pictures)
    }
