#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Records the figures of a run of `make bench` (or of a part of it) that documents show, in docs/figures.tsv, and fills
them into the documents. Figures that the run does not have keep their value; those that no document shows are dropped.
"""

import argparse
import sys
from pathlib import Path

from check import figures
from tessera.bench import published
from tessera.bench.published import Result
from tessera.run.runner import ROOT

DEFAULT = ROOT / "build" / "bench" / "results.jsonl"


class RecordError(Exception):
    """A run cannot be recorded; the text says why."""


def taken(path: Path, wanted: set[str], dirty: bool) -> dict[str, Result]:
    """The wanted figures of a run; RecordError if there is none, or if it is of a tree with changes."""
    if not path.is_file():
        raise RecordError(f"{path} does not exist; run `make bench`")
    found = {name: result for name, result in published.read_results(path).items() if name in wanted}
    changed = sorted(name for name, result in found.items() if result.commit.endswith("+"))
    if changed and not dirty:
        raise RecordError(f"{path}: {changed[0]} is of a tree with changes; commit them, then measure")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "results", nargs="*", type=Path, default=[DEFAULT], help=f"(default: {DEFAULT.relative_to(ROOT)})"
    )
    parser.add_argument("--dirty", action="store_true", help="record runs of a tree with changes, too")
    arguments = parser.parse_args()
    file, wanted = ROOT / figures.RESULTS, figures.named(ROOT)
    recorded = published.read(file)
    try:
        for path in arguments.results:
            recorded |= taken(path, wanted, arguments.dirty)
    except RecordError as error:
        print(f"record_figures: error: {error}", file=sys.stderr)
        return 1
    published.write(file, {name: result for name, result in recorded.items() if name in wanted})
    print("".join(f"record_figures: {name} updated\n" for name in figures.fill(ROOT)), end="")
    print(f"record_figures: {len(wanted & set(recorded))} figures in {figures.RESULTS}")
    missing = sorted(wanted - set(recorded) - set(figures.synthesized(ROOT / figures.SYNTHESIS)))
    print("".join(f"record_figures: no run has {name}\n" for name in missing), end="", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
