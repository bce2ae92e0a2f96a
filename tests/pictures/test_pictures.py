# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents, as a browser shows them."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image, ImageChops

import picture
from tessera.run import browser
from tessera.run.runner import ROOT

IMAGES = sorted((ROOT / "docs" / "images").glob("*.svg"))
TERMINALS = [ROOT / "docs" / "images" / f"{scene}.svg" for scene in picture.SCENES]
SVG = "{http://www.w3.org/2000/svg}"
CONTRAST = 40  # between the ground and ink, of 255
OVERHANG = 0.25  # of a cell's width: a glyph may touch its neighbour's cell


def size(path: Path) -> tuple[int, int]:
    top = ET.parse(path).getroot()
    return int(top.attrib["width"]), int(top.attrib["height"])


def shown(path: Path, folder: Path) -> Image.Image:
    out = folder / f"{path.stem}.png"
    browser.screenshot(path.as_uri(), size(path), out)
    return Image.open(out).convert("RGB")


def ink(image: Image.Image) -> Image.Image:
    """White where the picture differs from its ground."""
    ground = Image.new("RGB", image.size, image.getpixel((image.width // 2, 4)))
    return ImageChops.difference(image, ground).convert("L").point(lambda value: 255 * (value > CONTRAST))


def cells(path: Path) -> dict[tuple[int, int], str]:
    """The characters of a terminal's picture by row and column, other than blanks."""
    found = {}
    for text in ET.parse(path).getroot().iter(f"{SVG}text"):
        column = round((float(text.attrib["x"]) - picture.MARGIN) / picture.CELL_WIDTH)
        row = round((float(text.attrib["y"]) - picture.MARGIN) / picture.CELL_HEIGHT - 0.75)
        found.update({(row, column + n): character for n, character in enumerate(text.text or "") if character != " "})
    return found


def has_ink(dark: Image.Image, row: int, column: int, margin: float) -> bool:
    left = picture.MARGIN + (column + margin) * picture.CELL_WIDTH
    top = picture.MARGIN + row * picture.CELL_HEIGHT
    box = (round(left), top, round(left + (1 - 2 * margin) * picture.CELL_WIDTH), top + picture.CELL_HEIGHT)
    return dark.crop(box).getbbox() is not None


@pytest.mark.parametrize("path", TERMINALS, ids=lambda path: path.stem)
def test_each_character_is_in_its_column(path: Path, tmp_path: Path) -> None:
    dark, wanted = ink(shown(path, tmp_path)), cells(path)
    assert len(wanted) > 500
    places = [(row, column) for row in range(picture.LINES) for column in range(picture.COLUMNS)]
    wrong = [
        (row, column, wanted.get((row, column)))
        for row, column in places
        if has_ink(dark, row, column, 0 if (row, column) in wanted else OVERHANG) != ((row, column) in wanted)
    ]
    assert not wrong, f"{len(wrong)} of {len(places)} cells, for example {wrong[:5]}"


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_no_picture_depends_on_how_white_space_is_kept(path: Path) -> None:
    """Readers differ in it: current Chromium does not inherit xml:space from a group."""
    texts = ["".join(text.itertext()) for text in ET.parse(path).getroot().iter(f"{SVG}text")]
    assert texts
    assert [text for text in texts if text != " ".join(text.split())] == []
