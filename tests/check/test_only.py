# SPDX-License-Identifier: Apache-2.0
"""ONLY= of a suite (tools/mk/only.mk)."""

import os
import subprocess

import pytest

from tessera.run.runner import ROOT

MAKEFILE = 'BUILD := build\ninclude tools/mk/only.mk\nshow: ; @echo "$$ONLY_EXPRESSION"\n'


@pytest.mark.parametrize(
    ("only", "expression"),
    [
        ("", ""),
        ("test_rt", "test_rt"),
        ("test_rt test_smp  watchdog", "test_rt or test_smp or watchdog"),
        ("test_rt or test_smp", "test_rt or test_smp"),
        ("test_rt and not (budget or overrun)", "test_rt and not (budget or overrun)"),
        ("not test_rt", "not test_rt"),
    ],
)
def test_words_are_alternatives(only, expression):
    command = ["make", "--no-print-directory", "-s", "-f", "-", "show", f"ONLY={only}"]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=MAKEFILE, text=True, capture_output=True, check=True
    )
    assert done.stdout.strip() == expression
