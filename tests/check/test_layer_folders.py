# SPDX-License-Identifier: Apache-2.0
"""The compiler refuses an include of a layer that the file's own layer may not use."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PARTS = (
    "abi",
    "arch",
    "core",
    "devices",
    "ipc",
    "platform",
    "rt",
    "tools/mk",
    "services",
    "fpga/hw/include",
    "Makefile",
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the hypervisor."""
    root = tmp_path_factory.mktemp("layers")
    for part in PARTS:
        copy = shutil.copytree if (TOP / part).is_dir() else shutil.copy2
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        copy(TOP / part, root / part)
    return root


def compiled(root: Path, source: str) -> subprocess.CompletedProcess[str]:
    (root / f"build/obj/{source}.o").unlink(missing_ok=True)
    command = ["make", "-s", "HYP_BUILD=build", f"build/obj/{source}.o"]
    return subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("source", "header"),
    [
        ("core/sched.c", "ipc.h"),
        ("core/vm.c", "internal.h"),  # of arch/riscv
        ("rt/apps.c", "ipc.h"),
        ("ipc/messages.c", "hart.h"),
        ("devices/virtio/net.c", "accel_image.h"),
        ("services/debug/session.c", "console_parts.h"),
        ("core/sched.c", "fabric_map.h"),
        ("devices/virtio/boot.c", "fabric_map.h"),
    ],
)
def test_an_include_of_another_layer_is_refused(copied: Path, source: str, header: str) -> None:
    file = copied / source
    text = file.read_text(encoding="utf-8")
    done = compiled(copied, source)
    assert done.returncode == 0, done.stderr
    file.write_text(f'#include "{header}"\n{text}', encoding="utf-8")
    done = compiled(copied, source)
    file.write_text(text, encoding="utf-8")
    assert done.returncode != 0
    assert f"{source}:1" in done.stderr and f"{header}: No such file" in done.stderr, done.stderr
