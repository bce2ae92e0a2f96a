# SPDX-License-Identifier: Apache-2.0
"""Coverage by the host's tests, which gcov reads from objects that gcc has compiled with
--coverage."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cover.model import CoverError, Line, Sources

_Key = tuple[str, int, str]  # file, line, function: each object has its own copy of an inline function


def _records(objects: Path, gcov: str) -> Iterator[dict[str, Any]]:
    notes = sorted(str(path) for path in objects.rglob("*.gcno"))
    if not notes:
        raise CoverError(f"{objects}: nothing there was built with --coverage")
    command = [gcov, "--json-format", "--stdout", "--branch-probabilities", *notes]
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CoverError(f"{gcov}: {error}") from error
    return (json.loads(text) for text in done.stdout.splitlines() if text)


def read(objects: Path, gcov: str = "gcov") -> Sources:
    """Reads the coverage of all sources of the tree whose objects are in the folder."""
    lines: dict[_Key, Line] = defaultdict(Line)
    for record in _records(objects, gcov):
        folder = record["current_working_directory"]
        for file in record["files"]:
            # not of the tree, or of an object whose source has been renamed since
            if Path(file["file"]).is_absolute() or not Path(folder, file["file"]).is_file():
                continue
            for entry in file["lines"]:
                directions = [direction["count"] > 0 for direction in entry["branches"]]
                key = (file["file"], entry["line_number"], entry.get("function_name", ""))
                lines[key].merge(Line(entry["count"] > 0, directions))
    sources: Sources = defaultdict(dict)
    for (file, number, _), line in sorted(lines.items()):
        known = sources[file].setdefault(number, Line())
        known.executed |= line.executed
        known.directions += line.directions
    return dict(sources)
