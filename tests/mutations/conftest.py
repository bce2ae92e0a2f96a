# SPDX-License-Identifier: Apache-2.0
"""The mutants are booted by what tests/e2e has for it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
