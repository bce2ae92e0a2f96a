# SPDX-License-Identifier: Apache-2.0
"""The colours of VMs in pictures: those that the system file names, as on the console, dark enough for a
white background."""

from tessera.image.vm_schema import COLOURS

_ON_WHITE = {
    "red": "#c8453f",
    "green": "#4b9b45",
    "yellow": "#d6a117",
    "blue": "#2f6fb3",
    "magenta": "#a2489f",
    "cyan": "#2199a6",
    "white": "#8b929a",
    "bright-red": "#e8837e",
    "bright-green": "#86c481",
    "bright-yellow": "#ecca5f",
    "bright-blue": "#7ba9dc",
    "bright-magenta": "#cb8cc9",
    "bright-cyan": "#72c5ce",
    "bright-white": "#b9bec4",
}
assert _ON_WHITE.keys() == COLOURS.keys()

_DARKEST, _LIGHTEST = -0.35, 0.6  # of a VM's shades: share of black, share of white


def on_white(colour: str) -> str:
    """Returns a colour of system files as #rrggbb."""
    return _ON_WHITE[colour]


def _mixed(rgb: str, share: float) -> str:
    """Mixes a colour with a share of white, or of black if the share is negative."""
    target = 255 if share > 0 else 0
    parts = [int(rgb[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (target - part) * abs(share)):02x}" for part in parts)


def shades(colour: str, count: int) -> list[str]:
    """Returns `count` shades of a colour of system files, the darkest first; the colour itself if
    one is enough."""
    if count == 1:
        return [on_white(colour)]
    step = (_LIGHTEST - _DARKEST) / max(count - 1, 1)
    return [_mixed(on_white(colour), _DARKEST + step * place) for place in range(count)]
