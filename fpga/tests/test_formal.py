# SPDX-License-Identifier: Apache-2.0
"""Every proof, and for each one a fault that it has to find."""

import pytest
from rtl_lab import FORMAL, prove


@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", sorted(FORMAL.glob("*.sby")), ids=lambda path: path.stem)
def test_proof(script):
    assert "DONE (PASS" in prove(script)
