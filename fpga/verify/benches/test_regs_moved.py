# SPDX-License-Identifier: Apache-2.0
"""One regeneration moves the registers of an IF page: RTL and software take every offset from fabric.rdl."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from rtl_tools import FPGA, TOP

# New offsets, each in another word or half of a word; STAT and the results stay.
MOVED = {"START": 0x38, "OVER": 0x14, "CMD": 0x34, "DATA_ADDR": 0x18, "DATA_SIZE": 0x3C, "INT_CTRL": 0x0C}


@pytest.mark.long  # 95 s: another build of the fabric
@pytest.mark.timeout(900)
def test_fabric_works_with_moved_registers(tmp_path):
    shutil.copytree(FPGA, tmp_path / "fpga", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tools", "tests", "pyproject.toml"):
        (tmp_path / name).symlink_to(TOP / name)
    source = tmp_path / "fpga" / "hw" / "rdl" / "fabric.rdl"
    before, found, page = source.read_text(encoding="utf-8").partition("addrmap fabric_if")
    for name, offset in MOVED.items():
        page, count = re.subn(rf"\b{name} @ 0x\w+;", f"{name} @ {offset:#x};", page)
        assert count == 1, name
    source.write_text(before + found + page, encoding="utf-8")
    subprocess.run([sys.executable, str(source.with_name("generate.py")), str(tmp_path / "fpga" / "hw")], check=True)
    bench = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "fpga/verify/benches/test_benches.py"]
    done = subprocess.run(
        [*bench, "-m", "not long", "-k", "test_bench and fabric-fabric_sim"],
        cwd=tmp_path,
        env={**os.environ, "FPGA_BUILD": str(tmp_path / "build")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "1 passed" in done.stdout
