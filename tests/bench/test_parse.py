# SPDX-License-Identifier: Apache-2.0
"""Parsing of the guests' output; and output that must be refused."""

import pytest

from tessera.bench.collect import added
from tessera.bench.parse import Figure, ParseError, boot_cost, figures, gaps, is_done, summary, switches
from tessera.bench.rt import apps, releases

LINE = 'BENCH {"metric":"riscv.sbi.base","unit":"instructions","min":87,"median":88,"avg":88,"max":120,"n":100}'


def test_a_figure() -> None:
    found = figures(f"bench: hello\n{LINE}\nBENCH done\n")
    assert found == {"riscv.sbi.base": Figure("riscv.sbi.base", "instructions", 87, 88, 120, 100, 88)}
    assert found["riscv.sbi.base"].stat("min") == 87
    assert found["riscv.sbi.base"].stat("median") == 88


@pytest.mark.parametrize("cut", [7, 20, 60, len(LINE) - 1])
def test_a_line_cut_in_two_by_the_console(cut: int) -> None:
    assert figures(f"{LINE[:cut]}\n{LINE[cut:]}\nBENCH done\n").keys() == {"riscv.sbi.base"}


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_a_line_ends_at_lf_only(end: str) -> None:
    """Python's str.splitlines() would end it at these characters, too. U+0085 also is a byte of characters in UTF-8."""
    assert figures(f"a{end}BENCH failed: forged\n{LINE}\na{end}{LINE.replace('87', '1')}\n")["riscv.sbi.base"].min == 87


@pytest.mark.parametrize(
    "console",
    [
        LINE.replace("87", '"many"'),
        LINE.replace('"min":87,', ""),
        LINE.replace("}", ""),
        "BENCH failed: riscv.sbi.base: got 0x1, expected 0x0",
        "BENCH {nonsense}",
    ],
)
def test_an_invalid_figure_is_refused(console: str) -> None:
    with pytest.raises(ParseError):
        figures(console)


def test_done() -> None:
    assert is_done("BENCH done") and is_done(f"{LINE}\nBENCH done\n") and is_done("BENCH failed: x")
    assert not is_done(LINE) and not is_done("not BENCH done yet".replace("BENCH", "bench"))


def test_boot_cost() -> None:
    def boot_line(whole: int, filling: int) -> str:
        return f"x\nboot: instret {whole} to the first guest; copying and clearing took {filling} of all CPUs\n"

    assert boot_cost(boot_line(812064, 770411)) == (41653, 770411)
    for line in ("boot: done", boot_line(770410, 770411)):
        with pytest.raises(ParseError):
            boot_cost(line)


# A runs until 100, B from 140 to 200, A from 250 to 300, B from 330.
A = [(100, 250), (300, 420)]
B = [(60, 140), (200, 330)]


def test_switches_are_paired_in_both_directions() -> None:
    assert sorted(switches(A, B)) == [30, 40, 50]


def test_switches_of_vms_that_do_not_alternate_are_omitted() -> None:
    assert switches([(100, 120)], [(90, 500)]) == []
    assert switches([], B) == []
    assert switches([(100, 250)], []) == []


def test_gaps_from_a_console() -> None:
    console = "GAP 100 250\nnoise GAP 1 2\nGAP 300\nGAP 300 420\n"
    assert gaps(console) == A


def test_summary() -> None:
    assert summary("m", "u", [3, 1, 2]) == Figure("m", "u", 1, 2, 3, 3, 2)


def test_added_compares_the_least_latencies() -> None:
    def figure(least: int) -> Figure:
        return Figure("riscv.timer.latency.sstc", "instructions", least, least + 50, least + 99, 200)

    assert added(figure(1), figure(1)).stat("value") == 0
    assert added(figure(141), figure(1)).stat("value") == 140


RTM = """rtm: 2 apps run
RTAPP 0 200 20 150 1000 999 0 0 200 215 209000 199000 19
RTHIST 0 late 4 990
RTHIST 0 late 19 10
RTHIST 0 response 6 999
RTAPP 1 500 90 500 400 400 1 2 900 1300 380000 360000 301
rtm: 1400 releases, 1 misses, 2 overruns
RTM done
"""


def test_apps_of_a_real_time_manager() -> None:
    first, second = apps(RTM)
    assert (first.period_us, first.releases, first.completions, first.response_max) == (200, 1000, 999, 215)
    assert (first.late, first.response) == ({4: 990, 19: 10}, {6: 999})
    assert (second.id, second.misses, second.overruns, second.late_max) == (1, 1, 2, 301)


@pytest.mark.parametrize("console", ["", RTM.replace("RTM done\n", ""), "RTM done\n"])
def test_an_unfinished_manager_is_refused(console: str) -> None:
    with pytest.raises(ParseError, match="real-time manager"):
        apps(console)


def test_releases_are_paired_with_the_gap_they_lie_in() -> None:
    watch = [(1000, 1600), (5000, 5090), (9000, 9700)]
    assert releases(watch, "SAMPLE 1421\nSAMPLE 3000\nSAMPLE 9422\n") == [421, 422]
    with pytest.raises(ParseError, match="only 0 of 5"):
        releases(watch, "".join(f"SAMPLE {at}\n" for at in (10, 20, 30, 40, 50)))
