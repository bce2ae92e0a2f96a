# SPDX-License-Identifier: Apache-2.0
"""Where only the first failure matters (tests/mutations), a failing example is not made smaller: that takes minutes."""

import os

from hypothesis import Phase, settings

if "TESSERA_FIRST_FAILURE" in os.environ:
    settings.register_profile("first-failure", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("first-failure")
