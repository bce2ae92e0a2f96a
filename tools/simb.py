#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes bitstreams for the ICAP of the simulated fabric (docs/fabric.md#configuration).
The name of each file is <task>-<region>.bin. Usage: simb.py FILE...
"""

import sys
from pathlib import Path

from tessera.fabric.bitstream import of_file


def main() -> int:
    for path in map(Path, sys.argv[1:]):
        data = of_file(path.name)
        if data is None:
            expected = "expected <task>-<region>.bin with a task from 1 to 255 and a region from 0 to 7"
            print(f"simb.py: {expected}, got {path.name}", file=sys.stderr)
            return 1
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
