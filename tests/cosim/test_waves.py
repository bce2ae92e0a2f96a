# SPDX-License-Identifier: Apache-2.0
"""Waveforms on request, by a model of their own."""

import subprocess

import pytest
from conftest import COUNTED, image_of

from tessera.run.cosim import fabric_arguments, options_from_environment
from tessera.run.runner import console_arguments


@pytest.mark.long
def test_fst_names_a_file_for_waveforms(qemu, tmp_path, monkeypatch):
    waves = tmp_path / "run.fst"
    monkeypatch.setenv("FST", str(waves))
    command = [qemu.program, "-M", "virt", "-cpu", qemu.cpu, "-m", "128M", *console_arguments(), *COUNTED]
    command += ["-kernel", str(image_of("fabric")), *fabric_arguments(qemu, options=options_from_environment())]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=True)
    assert "fabric: done" in done.stdout
    data = waves.read_bytes()
    assert data[0] == 0, "the first block of an FST file is its header"
    assert len(data) > 10000
