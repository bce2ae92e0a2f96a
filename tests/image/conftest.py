# SPDX-License-Identifier: Apache-2.0
import pytest
from workshop import Workshop


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Workshop()
