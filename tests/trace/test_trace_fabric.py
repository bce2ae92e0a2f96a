# SPDX-License-Identifier: Apache-2.0
"""The fabric's regions in a trace: the file of the co-simulation, Perfetto, the picture."""

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from tessera.trace.fabric import HEADER, Span, read_regions
from tessera.trace.model import Hart, Slice, Timeline
from tessera.trace.names import Names
from tessera.trace.perfetto import perfetto_trace
from tessera.trace.plot import plot
from tessera.trace.ring import TraceError

MS = 1_000_000
NAMES = Names("sys", ["linux"], [1])
LINE = Timeline(0, 4 * MS, [Hart(0, [Slice(0, None, (0, 0))])])
CHANGES = f"""{HEADER}
1000000 1 reconfig 2 3 0 0
1100000 1 reconfig 2 3 0 1
1200000 1 hold 2 3 5 0
1300000 0 hold 0 1 9 0
1500000 1 busy 2 3 5 0
3000000 1 idle - - 5 0
"""


@pytest.fixture
def regions(tmp_path):
    path = tmp_path / "regions"
    path.write_text(CHANGES)
    return read_regions(path)


def test_a_span_lasts_until_the_next_change_of_its_region(regions):
    assert [*regions] == [0, 1]
    assert regions[0] == [Span(1300000, None, "hold", (0, 1), 9, False)]
    assert [(span.start, span.end) for span in regions[1]] == [
        (1000000, 1100000), (1100000, 1200000), (1200000, 1500000), (1500000, 3000000), (3000000, None),
    ]  # fmt: skip


def test_names_of_spans(regions):
    assert [span.name for span in regions[1]] == [
        "reconfig, VM 2 device 3", "reconfig, ICAP busy, VM 2 device 3", "hold AES-128, VM 2 device 3",
        "busy AES-128, VM 2 device 3", "idle AES-128",
    ]  # fmt: skip
    assert regions[0][0].name == "hold task 9, VM 0 device 1"


@pytest.mark.parametrize("bad", ["1 0 asleep - - 0 0", "x 0 idle - - 0 0", "1 0 idle - -", "1 0 busy 1 - 0 0"])
def test_a_bad_line_is_named(tmp_path, bad):
    path = tmp_path / "regions"
    path.write_text(f"{HEADER}\n{bad}\n")
    with pytest.raises(TraceError, match=rf"regions:2: '{bad}': expected '{HEADER}'"):
        read_regions(path)


def test_a_file_that_is_no_trace_of_regions_is_refused(tmp_path):
    with pytest.raises(TraceError, match="No such file"):
        read_regions(tmp_path / "none")
    (tmp_path / "other").write_text("{}\n")
    with pytest.raises(TraceError, match="other:1: no trace of regions"):
        read_regions(tmp_path / "other")


def test_perfetto_has_a_track_for_each_region(regions):
    trace = Trace()
    trace.ParseFromString(perfetto_trace(LINE, NAMES, regions))
    tracks = {p.track_descriptor.uuid: p.track_descriptor.name for p in trace.packet if p.HasField("track_descriptor")}
    begun = [
        (tracks[p.track_event.track_uuid], p.timestamp, p.track_event.name)
        for p in trace.packet
        if p.HasField("track_event") and p.track_event.type == TrackEvent.TYPE_SLICE_BEGIN
    ]
    assert ("region 1", 1500000, "busy AES-128, VM 2 device 3") in begun
    assert ("region 0", 1300000, "hold task 9, VM 0 device 1") in begun
    assert len([name for track, _, name in begun if track.startswith("region")]) == 5, "idle is no slice"


def test_the_picture_has_a_row_for_each_region(regions, tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plot(LINE, NAMES, 0, 4 * MS, [tmp_path / "with.svg"], regions)
        plot(LINE, NAMES, 0, 4 * MS, [tmp_path / "without.svg"])
    drawn = (tmp_path / "with.svg").read_text(encoding="utf-8")
    for words in ("region 0 of the fabric", "region 1 of the fabric", "region: busy", "region: reconfig"):
        assert words in drawn
    assert "region: preempt" not in drawn
    assert "region" not in (tmp_path / "without.svg").read_text(encoding="utf-8")
