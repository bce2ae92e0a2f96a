#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/images/freertos-web.png: FreeRTOS's page in a browser on the host, from a run of the system network."""

import shutil
import subprocess
import sys
from pathlib import Path

from tessera.run.machine import Machine
from tessera.run.runner import ROOT, RunError, find_qemu, load_system, system_command

PATIENCE_S = 180.0
PAGE = "http://127.0.0.1:8080/"  # forwarded by the system
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PICTURE = ROOT / "docs" / "images" / "freertos-web.png"


def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise RunError(f"expected a browser ({', '.join(BROWSERS)}), found none: apt-get install chromium")
    return found


def draw(program: str, to: Path) -> None:
    """Opens the page in the browser once FreeRTOS and the uplink are ready."""
    system = load_system("network")
    with Machine(system_command(find_qemu(), system), system.names) as machine:
        machine.expect("rtos", r"^web: http", PATIENCE_S)
        machine.expect("uplink", r"^uplink: ready$", PATIENCE_S)
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=480,270"]
        done = subprocess.run(
            [*words, f"--screenshot={to}", PAGE], capture_output=True, timeout=PATIENCE_S, check=False
        )
        if done.returncode != 0 or not to.exists():
            raise RunError(f"{program}: no screenshot: {done.stderr.decode(errors='replace')[-500:]}")


def main() -> int:
    try:
        draw(browser(), PICTURE)
    except RunError as error:
        print(f"web_picture: error: {error}", file=sys.stderr)
        return 1
    print(f"web_picture: {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
