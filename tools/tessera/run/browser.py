# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, for pictures of pages."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from tessera.run.runner import RunError

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# No traffic of its own, and no files of a user.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise RunError(f"expected a browser ({', '.join(BROWSERS)}), found none: make setup-browser")
    return found


def screenshot(address: str, size: tuple[int, int], to: Path, timeout_s: float = 180.0) -> None:
    """Saves what the browser shows at the address in a window of this size, as PNG."""
    program = find()
    with tempfile.TemporaryDirectory() as profile:
        words = [program, *FLAGS, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        done = subprocess.run(
            [*words, f"--screenshot={to}", address], capture_output=True, timeout=timeout_s, check=False
        )
    if done.returncode != 0 or not to.exists():
        raise RunError(f"{program}: no screenshot: {done.stderr.decode(errors='replace')[-500:]}")
