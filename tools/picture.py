# SPDX-License-Identifier: Apache-2.0
"""Creates a picture of a system's console: boots it, types as a user would, and draws the resulting terminal."""

import argparse
import html
import re
import time
from pathlib import Path

import pexpect
import pyte

COLUMNS, LINES = 112, 42
CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.43, 18, 14
ESCAPE = "\x14"  # Ctrl-T

# Typed keys, and the text that must appear before the next keys, with its timeout in seconds.
Scene = tuple[tuple[str, str, int], ...]
SCENES: dict[str, Scene] = {
    "demo": (
        ("", "linux is up", 60),
        ("", "linux:~# ", 20),
        ("uname -srm; head -3 /proc/meminfo\r", "MemAvailable", 20),
        (ESCAPE + "2", "keyboard: freertos", 5),
        ("tasks\r", "heap free", 10),
        (ESCAPE + "3", "keyboard: uboot", 5),
        ("version\r", "+0000)", 10),
        (ESCAPE + "s", "uboot stopped", 5),
        (ESCAPE + "1", "keyboard: linux", 5),
        ("echo still here\r", "| still here", 20),
        (ESCAPE + "l", "3 uboot", 5),
    ),
    "network": (
        ("", "network: ready", 120),
        ("", "linux:~# ", 60),
        ("ping -c 2 192.168.80.2\r", "packet loss", 30),
        ("wget -qO- http://192.168.80.3/ | sed 's/<[^>]*>/ /g' | grep [a-z]\r", "linux:~#", 20),
        (ESCAPE + "2", "keyboard: west", 5),
        ("\r", "linux:~# ", 20),
        ("vsock listen 999 </dev/null &\r", "vsock: listens", 20),
        (ESCAPE + "1", "keyboard: east", 5),
        ("echo hello from east | vsock connect 4 999\r", "| hello from east", 20),
        ("\r", "linux:~# ", 20),
        (ESCAPE + "l", "3 rtos", 5),
    ),
}

COLOURS = {
    "default": "#d8dee9",
    "black": "#4c566a",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#d8dee9",
    "brightblack": "#8791a5",
}


def play(scene: Scene, command: list[str]) -> pyte.Screen:
    """Plays the scene and returns the terminal at its end."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    child = pexpect.spawn(
        command[0], command[1:], encoding="utf-8", dimensions=(LINES, COLUMNS), codec_errors="replace"
    )
    seen = ""
    for keys, awaited, seconds in scene:
        seen = ""
        for key in keys:
            child.send(key)
            time.sleep(0.02)
        deadline = time.monotonic() + seconds
        while awaited not in seen:
            if time.monotonic() > deadline:
                raise SystemExit(
                    "\n".join(screen.display) + f"\npicture: waited {seconds} s for {awaited!r} after typing {keys!r}"
                )
            try:
                chunk = child.read_nonblocking(4096, timeout=0.2)
            except pexpect.TIMEOUT:
                continue
            stream.feed(chunk)
            seen = "\n".join(line.rstrip() for line in screen.display) + "\n" + "".join(screen.display)
        time.sleep(0.5)
    child.send(ESCAPE + "q")
    child.close(force=True)
    return screen


def spans(screen: pyte.Screen, row: int) -> list[tuple[int, str, str, bool]]:
    """
    Returns the runs of equal attributes in a row: column, text, colour, bold. No text starts or ends with a blank or
    has two in a row, so that the picture does not depend on how its reader keeps white space.
    """
    runs: list[tuple[int, str, str, bool]] = []
    for column in range(COLUMNS):
        cell = screen.buffer[row][column]
        colour = COLOURS.get(cell.fg, COLOURS["default"])
        if runs and runs[-1][2:] == (colour, cell.bold):
            start, text, *_ = runs[-1]
            runs[-1] = (start, text + cell.data, colour, cell.bold)
        else:
            runs.append((column, cell.data, colour, cell.bold))
    return [
        (column + words.start(), words[0], colour, bold)
        for column, text, colour, bold in runs
        for words in re.finditer(r"\S+(?: \S+)*", text)
    ]


def draw(screen: pyte.Screen) -> str:
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, LINES * CELL_HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        # REUSE-IgnoreStart
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        # REUSE-IgnoreEnd
        "<!-- Made by tools/picture.py from a real run. -->",
        '<rect width="100%" height="100%" rx="8" fill="#1e222a"/>',
        '<g font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14">',
    ]
    for row in range(LINES):
        y = MARGIN + (row + 0.75) * CELL_HEIGHT
        for column, text, colour, bold in spans(screen, row):
            x = MARGIN + column * CELL_WIDTH
            weight = ' font-weight="bold"' if bold else ""
            length = len(text) * CELL_WIDTH
            out.append(
                f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{weight} textLength="{length:.1f}">'
                f"{html.escape(text)}</text>"
            )
    return "\n".join([*out, "</g>", "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", choices=SCENES, default="demo", help="what is typed (default: demo)")
    parser.add_argument("command", nargs="+", help="what boots the system with its console on the terminal")
    arguments = parser.parse_args()
    out = Path(f"docs/images/{arguments.scene}.svg")
    out.write_text(draw(play(SCENES[arguments.scene], arguments.command)), encoding="utf-8")
    print(f"picture: {out}")


if __name__ == "__main__":
    main()
