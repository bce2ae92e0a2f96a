# SPDX-License-Identifier: Apache-2.0
"""The phases of an overlay: what the guest prints, the framework's share, and the picture."""

from pathlib import Path

import pytest

from tessera.bench.metrics import read_metrics
from tessera.bench.overlay import PHASES, REMOVAL, icap_us, phases, share
from tessera.bench.parse import ParseError
from tessera.bench.plot_overlay import PUBLISHED, measured, plot_overlay

APPLY = "overlay: apply: state 2, failed 255, region 255, ticks 1 2 3 400 5 6 7 0 0\n"
REMOVE = "overlay: remove: state 0, failed 255, region 255, ticks 0 0 9 0 0 0 0 7 8\n"


def test_ticks_are_named_by_phase() -> None:
    applied, removed = phases(APPLY + REMOVE, 0.1)
    assert [round(applied[name], 1) for name in PHASES] == [0.1, 0.2, 0.3, 40.0, 0.5, 0.6, 0.7]
    assert [round(removed[name], 1) for name in REMOVAL] == [0.7, 0.8, 0.9]


@pytest.mark.parametrize(
    "text",
    [
        "",
        APPLY,
        REMOVE,
        APPLY.replace("state 2", "state 0") + REMOVE,
        APPLY.replace("failed 255", "failed 3") + REMOVE,
    ],
)
def test_a_transaction_that_is_missing_or_failed_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        phases(text, 0.1)


def test_share_is_what_the_port_does_not_need() -> None:
    assert icap_us(4_000_000) == pytest.approx(10_000.17)
    assert share({"lcfg": 10_000.17, "dcpl": 100.0}, 4_000_000) == pytest.approx(100 * 100 / 10_100.17)


def test_goals_are_the_papers() -> None:
    metrics = read_metrics()
    assert metrics["vdm.phase.share"].goal == 2
    assert metrics["vdm.phase.total"].goal == 135_000 == pytest.approx(1000 * sum(PUBLISHED.values()), rel=1e-3)


def test_picture_needs_every_phase(tmp_path: Path) -> None:
    records = [{"metric": f"vdm.phase.{name}", "value": 1000.0} for name in PHASES]
    assert measured(records) == dict.fromkeys(PHASES, 1.0)
    (path,) = plot_overlay(records, tmp_path)
    assert path.name == "overlay.png" and path.stat().st_size > 10000
    assert plot_overlay(records[1:], tmp_path) == []
