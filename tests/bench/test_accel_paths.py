# SPDX-License-Identifier: Apache-2.0
"""The costs of the paths to a region of the fabric, from records of the hypervisor's passes."""

from pathlib import Path

import pytest

from tessera.bench.accel import device_interrupts, paths, summaries
from tessera.bench.count import CountError
from tessera.bench.parse import ParseError
from tessera.bench.passes import Device, Event, read_passes
from tessera.fabric.registers import register

REQUEST, SOLUTION = register("FABRIC_REGS_REQUEST"), register("FABRIC_REGS_SOLUTION")
CONNECT, START = register("FABRIC_REGS_PRR_CONNECT"), register("FABRIC_REGS_ICAP_START")
STATUS, LISTED = register("FABRIC_REGS_IRQ_STATUS"), register("FABRIC_REGS_NEW_SOLUTION")


def events(*words: tuple[int, str] | tuple[int, str, int]) -> list[Event]:
    return [Event(*word) for word in words]


REQUESTED = [(101, "trap_entry"), (150, "accel_write_fault"), (180, "store", REQUEST), (184, "load", SOLUTION)]
WOKEN = [(400, "wfi"), (440, "plic_handle"), (450, "accel_interrupt"), (460, "load", STATUS)]


def test_assign() -> None:
    (path,) = paths(events(*REQUESTED, (220, "store", CONNECT), (300, "sret")))
    assert (path.name, path.beyond, path.whole) == ("assign", 201, 201)
    assert path.terms == {"trap": [80], "search": [5], "solution_assign": [36], "resume": [80]}


def test_configure_excludes_what_the_hart_does_meanwhile() -> None:
    (path,) = paths(
        events(*REQUESTED, (240, "store", START), *WOKEN, (500, "store", CONNECT), (600, "sret")),
    )
    assert path.name == "configure"
    assert path.terms == {
        "trap": [80], "search": [5], "solution_configure": [56], "pl_irq": [59], "irq_pcap": [41], "resume": [100],
    }  # fmt: skip
    assert path.beyond == 341
    assert path.whole == 501


def test_preempt_excludes_what_the_hart_does_until_the_job_has_stopped() -> None:
    (path,) = paths(events(*REQUESTED, *WOKEN, (500, "store", CONNECT), (600, "sret")))
    assert path.name == "preempt"
    assert path.terms["solution_preempt"] == [401 - 185]
    assert path.beyond == 341 - 56


def test_preempt_and_configure() -> None:
    again = [(700, "wfi"), (750, "accel_interrupt"), (760, "load", STATUS)]
    (path,) = paths(
        events(*REQUESTED, *WOKEN, (500, "store", START), *again, (800, "store", CONNECT), (900, "sret")),
    )
    assert path.name == "preempt_configure"
    assert path.terms["irq_stop"] == path.terms["irq_pcap"] == [41]
    assert path.terms["pl_irq"] == [59, 59]


def test_instructions_of_guests_are_not_the_hypervisors() -> None:
    other = [(300, "sret"), (390, "trap_entry"), (450, "accel_interrupt"), (460, "load", STATUS)]
    (path,) = paths(events(*REQUESTED, *other, (500, "store", CONNECT), (600, "sret")))
    assert path.whole == 501 - (390 - 301)
    assert path.terms["pl_irq"] == [69]


def test_a_request_that_waits_in_the_search_list_is_left_out() -> None:
    listed = events(*REQUESTED, *WOKEN, (470, "load", LISTED), (500, "store", CONNECT), (600, "sret"))
    assert paths(listed) == []


def test_a_write_that_requests_nothing_is_no_path() -> None:
    assert paths(events((101, "trap_entry"), (150, "accel_write_fault"), (160, "store", 0x100008), (200, "sret"))) == []


def test_a_path_without_an_interrupt_is_an_error() -> None:
    with pytest.raises(ParseError, match="a path without"):
        paths(events(*REQUESTED, (400, "wfi"), (500, "store", CONNECT), (600, "sret")))


def test_interrupts_of_devices() -> None:
    woken = [(10, "wfi"), (40, "plic_handle"), (99, "sret")]
    managers = [(200, "wfi"), (240, "plic_handle"), (250, "accel_interrupt"), (299, "sret")]
    timers = [(400, "wfi"), (450, "sret")]
    running = [(500, "wfi"), (510, "sret"), (600, "trap_entry"), (620, "plic_handle"), (650, "sret")]
    assert device_interrupts(events(*woken, *managers, *timers, *running)) == [89]


def test_summaries() -> None:
    found = paths(events(*REQUESTED, (220, "store", CONNECT), (300, "sret")))
    metrics = summaries(found)
    assert metrics["path.assign"] == metrics["path.assign.whole"] == [201]
    assert metrics["term.search"] == [5]


def test_a_record_is_read(tmp_path: Path) -> None:
    record = tmp_path / "passes"
    record.write_text("7 pass 80200010\n9 store 18000020\n", encoding="utf-8")
    device = Device(0x18000000, 0x200000)
    assert read_passes(record, {0x80200010: "trap_entry"}, device) == [Event(7, "trap_entry"), Event(9, "store", 0x20)]
    record.write_text("7 pass\n", encoding="utf-8")
    with pytest.raises(CountError, match="passes:1: expected"):
        read_passes(record, {}, device)
