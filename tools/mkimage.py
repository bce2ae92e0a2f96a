#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a system image from a system's .dts source. See docs/configuration.md."""

import argparse
import os
import sys
from pathlib import Path

from tessera.image.build import Options, build, write
from tessera.image.problems import BuildError
from tessera.image.system import check_board, named_files, needed_components

ROOT = Path(__file__).resolve().parent.parent


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, metavar="SYSTEM.dts", help="the system's source")
    head = parser.add_mutually_exclusive_group(required=True)
    head.add_argument("--hypervisor", type=Path, metavar="BIN", help="the hypervisor's raw binary")
    head.add_argument("--without-hypervisor", action="store_true", help="write the system image alone (for tests)")
    head.add_argument(
        "--list-files",
        action="store_true",
        help="only list what make builds for the system: the guests' files that it names, the components that it needs",
    )
    parser.add_argument(
        "--guests",
        default="",
        metavar=f"DIR[{os.pathsep}DIR...]",
        help="directories that are searched after that of the source",
    )
    parser.add_argument("--board", metavar="NAME", help="refuse a system for another board")
    parser.add_argument("--out", type=Path, metavar="DIR", help="directory to write to")
    parser.add_argument("--platform", type=Path, default=ROOT / "platform", metavar="DIR", help="the boards")
    parser.add_argument("--without", default="", metavar="LIST", help="features to hide, as machine-mask: sstc,htinst")
    parser.add_argument(
        "--components",
        metavar="LIST",
        help="the hypervisor's components, as in HYP_COMPONENTS; without this option all that a system can need",
    )
    parser.add_argument("--sorters", action="store_true", help="the hypervisor has queues in the fabric's sorters")
    args = parser.parse_args()
    if args.out is None and not args.list_files:
        parser.error("expected --out DIR")
    return args


def main() -> int:
    args = _arguments()
    without = tuple(name for name in args.without.split(",") if name)
    search = tuple(Path(name) for name in args.guests.split(os.pathsep) if name)
    try:
        if args.board:
            check_board(args.source, args.board, args.platform)
        if args.list_files:
            print(*named_files(args.source, search), *needed_components(args.source), sep="\n")
            return 0
        components = None if args.components is None else tuple(args.components.split())
        built = build(Options(args.source, args.hypervisor, search, args.platform, without, components, args.sorters))
        write(built, args.out)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
