# SPDX-License-Identifier: Apache-2.0
"""
Prints the names of the modules and packages in a CVA6's manifest: `CVA6_DIR=checkout names.py`. core-h/cva6-names.txt
is its output for the commit in its first lines; tests/test_names.py compares the fabric's names with them.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verify" / "benches"))

import sources

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINITION = re.compile(r"^\s*(?:module|package|interface)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)


def definitions(path: Path) -> set[str]:
    """The modules, packages and interfaces that a file defines."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return set(_DEFINITION.findall(_COMMENT.sub("", text)))


def manifest_files(manifest: Path, root: Path) -> Iterator[Path]:
    """The files of a manifest and of the manifests that it includes."""
    for text in manifest.read_text(encoding="utf-8").splitlines():
        line = sources.manifest_line(text, root)
        if line.startswith("-"):
            yield from manifest_files(Path(line.split()[-1]), root)
        elif line and not line.startswith("+"):
            yield Path(line)


def manifest_names(root: Path) -> set[str]:
    """
    The names that the manifest of a checkout defines. A file that is not there, of a submodule, counts as a module with
    the file's name.
    """
    found: set[str] = set()
    for path in manifest_files(root / "core" / "Flist.cva6", root):
        found |= definitions(path) if path.is_file() else {path.stem}
    return found


def main() -> int:
    root = sources.checkout()
    if not root:
        print("names: CVA6_DIR=path names a checkout of CVA6", file=sys.stderr)
        return 1
    print("\n".join(sorted(manifest_names(root))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
