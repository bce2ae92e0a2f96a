# SPDX-License-Identifier: Apache-2.0
"""What the components of the hypervisor list in their component.c."""

import re

from tessera.run.runner import ROOT

_FOLDERS = ("arch", "core", "devices", "ipc", "rt", "services")


def hypercall_functions() -> str:
    """Returns a pattern that matches the functions of all hypercalls."""
    texts = (path.read_text(encoding="utf-8") for folder in _FOLDERS for path in (ROOT / folder).rglob("component.c"))
    return "|".join(name for text in texts for name in re.findall(r"\{HCALL_\w+, (\w+),", text))
