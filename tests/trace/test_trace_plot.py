# SPDX-License-Identifier: Apache-2.0
"""The picture of a trace: colours, labels and legend; and that it is drawn."""

import pytest

from tessera.colours import on_white, shades
from tessera.image.vm_schema import COLOURS
from tessera.trace.model import Hart, Job, Slice, Timeline
from tessera.trace.names import Names
from tessera.trace.plot import plot, row_label, vcpu_colours
from tessera.trace.ring import TraceError

MS = 1_000_000
LINUX, RTM, APP0, APP1 = (0, 0), (1, 0), (1, 1), (1, 2)
NAMES = Names("sys", ["linux", "rtm"], [1, 1], ["cyan", "bright-red"])
SLICES = [
    Slice(0, 1 * MS, LINUX),
    Slice(1 * MS, 2 * MS, APP0),
    Slice(2 * MS, 3 * MS, APP1),
    Slice(3 * MS, 3 * MS + 100, RTM),  # too short to be visible
    Slice(3 * MS + 100, None, None),
]
JOBS = {
    # Releases are recorded some nanoseconds late; deadlines are exact.
    APP0: [Job(1, 1 * MS + 130, 2 * MS, 2 * MS), Job(2, 3 * MS + 90, 4 * MS, 5 * MS, missed=True, overruns=[4 * MS])],
    APP1: [Job(1, 2 * MS + 40, 4 * MS, None)],
}
LINE = Timeline(0, 6 * MS, [Hart(0, SLICES)], {}, JOBS)
WITHOUT_APPS = Timeline(0, 2 * MS, [Hart(0, SLICES[:1])])


def texts(tmp_path, line, start, end):
    """All texts of the picture, which SVG contains as words."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        path = tmp_path / "picture.svg"
        plot(line, NAMES, start, end, [path])
    return path.read_text(encoding="utf-8")


def test_vms_have_the_colours_of_the_system_file():
    """RT apps have shades of it that differ from each other."""
    colours = vcpu_colours(LINE, NAMES)
    assert (colours[LINUX], colours[RTM]) == (on_white("cyan"), on_white("bright-red"))
    assert [colours[APP0], colours[APP1]] == shades("bright-red", 2)
    assert len({colours[APP0], colours[APP1], colours[LINUX]}) == 3


def test_vms_without_a_colour_have_the_default_of_the_console():
    names = Names("sys", ["linux", "rtm"], [1, 1])
    assert [names.colour(vm) for vm in (0, 1)] == ["green", "yellow"]


@pytest.mark.parametrize("colour", COLOURS)
def test_shades_differ(colour):
    for count in (1, 2, 8):
        found = shades(colour, count)
        assert len(set(found)) == count
        assert all(len(rgb) == 7 and int(rgb[1:], 16) >= 0 for rgb in found)


def test_labels_tell_period_and_deadline():
    assert row_label(LINE, NAMES, APP0) == "rtm app 0\nevery 2 ms, deadline 1 ms"
    assert row_label(LINE, NAMES, APP1) == "rtm app 1\ndeadline 2 ms"  # one job has no period
    assert row_label(LINE, NAMES, LINUX) == "linux"


def test_the_legend_has_what_the_picture_shows(tmp_path):
    found = texts(tmp_path, LINE, 0, 6 * MS)
    for word in (
        ">linux<",
        ">rtm app 0<",
        ">rtm app 1<",
        "deadline missed",
        ">idle<",
        "budget used up",
        "release: a job may start",
    ):
        assert word in found, word
    assert ">rtm<" not in found
    found = texts(tmp_path, LINE, 0, 2 * MS)
    for word in ("deadline missed", "budget used up", ">idle<"):
        assert word not in found, word
    assert found.count(">rtm app 0<") == found.count(">rtm app 1<") + 1  # app 1 has its row only


def test_without_apps_the_picture_explains_no_jobs(tmp_path):
    found = texts(tmp_path, WITHOUT_APPS, 0, 2 * MS)
    assert "deadline" not in found
    assert "the VM that runs on each hart" in found


def test_an_empty_picture_is_refused(tmp_path):
    with pytest.raises(TraceError, match="no time"):
        plot(LINE, NAMES, MS, MS, [tmp_path / "picture.png"])
