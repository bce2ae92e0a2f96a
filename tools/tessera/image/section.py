# SPDX-License-Identifier: Apache-2.0
"""What a component adds to the system image."""

from collections.abc import Callable
from dataclasses import dataclass

from tessera.image.model import System


@dataclass(frozen=True)
class Section:
    """
    A component's section of the system image. `largest` is an upper bound of its bytes; `is_used` tells whether a
    system has the section, `payloads` returns the payloads that it refers to, and `write` its bytes from the
    offsets of payloads from the image's header.
    """

    tag: int
    largest: int
    is_used: Callable[[System], bool]
    payloads: Callable[[System], list[bytes]]
    write: Callable[[System, Callable[[bytes], int]], bytes]
