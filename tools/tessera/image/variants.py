# SPDX-License-Identifier: Apache-2.0
"""
Variants: systems that differ from another one in a few numbers or names. They are sections of the file variants.dtsi
of a folder, each begun by a line `//= NAME`; a section includes the system that it varies. The system
`folder/NAME.dts` is such a section if there is no file of this name.
"""

from pathlib import Path

FILE = "variants.dtsi"
_MARK = "//= "


def names(folder: Path) -> list[str]:
    """Returns the names of the folder's variants, in their order."""
    file = folder / FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]


def section(path: Path) -> tuple[Path, str] | None:
    """Returns the file and the text of the variant `path`, None if it is none. The lines have the numbers of the
    file."""
    file = path.parent / FILE
    if path.exists() or path.suffix != ".dts" or path.stem not in names(path.parent):
        return None
    name, text = "", []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(_MARK):
            name = line.removeprefix(_MARK)
        text.append(line if name == path.stem else "")
    return file, "\n".join(text) + "\n"


def source_text(path: Path) -> str:
    """Returns the text of a system's source, a variant or not."""
    variant = section(path)
    return variant[1] if variant else path.read_text(encoding="utf-8")
