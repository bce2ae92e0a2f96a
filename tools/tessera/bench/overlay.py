# SPDX-License-Identifier: Apache-2.0
"""The phases of an overlay's transaction, from what the guest `overlay` prints."""

import re

from tessera.bench.parse import ParseError

PHASES = ("ldto", "lfw", "dcpl", "lcfg", "cpl", "updt", "ldrv")
REMOVAL = ("udto", "udrv", "dcpl")
_ORDER = ("ldto", "lfw", "dcpl", "lcfg", "cpl", "updt", "ldrv", "udto", "udrv")  # ACCEL_PHASE_* of abi/accel_abi.h
_LINE = re.compile(r"^overlay: (apply|remove): state (\d+), failed 255, region 255, ticks ([\d ]+)$", re.MULTILINE)
_STATES = {"apply": "2", "remove": "0"}
FABRIC_MHZ = 100.0
CYCLES = 17  # of a configuration beside its words (docs/fabric.md)


def phases(text: str, tick_us: float) -> tuple[dict[str, float], dict[str, float]]:
    """
    Returns the microseconds of each phase of the first application, in which the region is configured, and of the first
    removal. Raises ParseError if one is missing or failed.
    """
    found: dict[str, dict[str, float]] = {}
    for what, state, ticks in _LINE.findall(text):
        if state == _STATES[what] and what not in found:
            found[what] = {name: int(count) * tick_us for name, count in zip(_ORDER, ticks.split(), strict=True)}
    if set(found) != set(_STATES):
        raise ParseError(f"expected an overlay that was applied and removed, got {', '.join(found) or 'none'}")
    return {name: found["apply"][name] for name in PHASES}, {name: found["remove"][name] for name in REMOVAL}


def icap_us(size: int) -> float:
    """Returns the time that the ICAP needs for a bitstream of `size` bytes."""
    return (size / 4 + CYCLES) / FABRIC_MHZ


def share(applied: dict[str, float], size: int) -> float:
    """Returns the percentage of the transaction in which the ICAP does not configure: that of the framework."""
    total = sum(applied.values())
    return 100 * (total - icap_us(size)) / total
