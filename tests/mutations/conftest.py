# SPDX-License-Identifier: Apache-2.0
"""Makes the helpers of tests/e2e importable, which boot the mutants."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
