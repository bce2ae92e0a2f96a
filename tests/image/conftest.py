# SPDX-License-Identifier: Apache-2.0
import pytest
from fixtures import ImageBuilder


@pytest.fixture
def builder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ImageBuilder()
