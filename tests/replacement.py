# SPDX-License-Identifier: Apache-2.0
"""Faults in source code: code is found whatever its line breaks, so that a change of layout moves no fault."""

import re


def replaced(text: str, old: str, new: str) -> str:
    """Returns `text` with `old`, which must occur exactly once, replaced. White space between words does not count."""
    place = r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", old))
    found = re.findall(place, text)
    assert len(found) == 1, f"{old!r} occurs {len(found)} times"
    return text.replace(found[0], new.strip(), 1)
