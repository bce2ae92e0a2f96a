#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/images/freertos-web.png: FreeRTOS's page in a browser on the host, from a run of the system network."""

import sys
from pathlib import Path

from tessera.run import browser
from tessera.run.machine import Machine
from tessera.run.runner import ROOT, RunError, find_qemu, load_system, system_command

PATIENCE_S = 180.0
PAGE = "http://127.0.0.1:8080/"  # forwarded by the system
SIZE = (480, 270)
PICTURE = ROOT / "docs" / "images" / "freertos-web.png"


def draw(to: Path) -> None:
    """Opens the page in the browser once FreeRTOS and the uplink are ready."""
    system = load_system("network")
    with Machine(system_command(find_qemu(), system), system.names) as machine:
        machine.expect("rtos", r"^web: http", PATIENCE_S)
        machine.expect("uplink", r"^uplink: ready$", PATIENCE_S)
        browser.screenshot(PAGE, SIZE, to, PATIENCE_S)


def main() -> int:
    try:
        browser.find()
        draw(PICTURE)
    except RunError as error:
        print(f"web_picture: error: {error}", file=sys.stderr)
        return 1
    print(f"web_picture: {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
