# SPDX-License-Identifier: Apache-2.0
"""What the host's tests execute, as gcov tells it of objects that gcc has made with --coverage."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cover.model import CoverError, Line, Sources

_Key = tuple[str, int, str]  # file, line, function: of an inline function each object has one


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
    """All that was compiled into the folder and lies below the top of the source tree."""
    lines: dict[_Key, Line] = defaultdict(Line)
    for record in _records(objects, gcov):
        for file in record["files"]:
            if Path(file["file"]).is_absolute():
                continue
            for told in file["lines"]:
                ways = [way["count"] > 0 for way in told["branches"]]
                key = (file["file"], told["line_number"], told.get("function_name", ""))
                lines[key].merge(Line(told["count"] > 0, ways))
    sources: Sources = defaultdict(dict)
    for (file, number, _), line in sorted(lines.items()):
        known = sources[file].setdefault(number, Line())
        known.executed |= line.executed
        known.ways += line.ways
    return dict(sources)
