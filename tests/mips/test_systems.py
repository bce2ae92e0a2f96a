# SPDX-License-Identifier: Apache-2.0
"""Complete systems on both boards of the M5150, tested through the console."""

import re

import pytest
from conftest import BOARDS, ESCAPE, MOST, TARGETS, in_turn, run

LIMIT_REACHED = 124


@pytest.mark.parametrize("board", MOST)
def test_three_guests_on_one_console(board: str) -> None:
    system = run("m5150", board, typed=[(3, f"{ESCAPE}2list\r")], limit="500M")
    assert system.code == LIMIT_REACHED, system.remarks
    assert f"Tessera on {board.partition('.')[0]}: system " in system.text("tessera")
    assert "16 GPR shadow sets" in system.text("tessera")
    assert "freertos: self-check passed" in system.text("freertos")
    assert "FAILED" not in system.text("freertos")
    assert re.search(r"ADPCM frames 100 codes 0x76567879 samples 0xb7b3613a", system.text("adpcm"))
    assert "adpcm stopped by its own shutdown" in system.text("tessera")
    listed = re.findall(r"app (\d).*?(\d+) releases, (\d+) ended, (\d+) missed, (\d+) overran", system.text("rtm"))
    last = {app: list(map(int, numbers)) for app, *numbers in listed}
    assert sorted(last) == ["0", "1", "2", "3"], system.text("rtm")
    for app, (releases, ended, missed, overran) in last.items():
        assert releases >= 20 and releases - ended <= 1, (app, last)
        assert (missed, overran) == (0, 0), (app, last)


def test_runs_are_repeatable() -> None:
    one, other = (run("m5150", "m5150", limit="60M") for _ in range(2))
    assert one.printed == other.printed and one.remarks == other.remarks


@pytest.mark.parametrize(("hss", "board"), in_turn([1, 3, 7]))
def test_fewer_shadow_sets_change_only_the_cost(board: str, hss: int) -> None:
    """One, two and six shadow sets for all VCPUs: no register value leaks to another VCPU."""
    system = run("m5150", board, "--model", f"hss={hss}", limit="500M")
    assert f"{hss + 1} GPR shadow sets" in system.text("tessera")
    assert "freertos: self-check passed" in system.text("freertos")
    assert "FAILED" not in system.text("freertos")
    assert "samples 0xb7b3613a" in system.text("adpcm")
    assert "rtm: 4 apps run" in system.text("rtm")


@pytest.mark.parametrize("board", BOARDS)
def test_a_missing_shadow_set_is_reported(board: str) -> None:
    system = run("m5150", board, "--model", "hss=0")
    assert system.code == 1
    assert "error: this machine lacks a GPR shadow set" in system.printed


def test_a_core_that_reports_virtual_addresses_stops_the_vms() -> None:
    system = run("m5150", "m5150", "--model", "badvaddr=gva", limit="2M")
    for name in ("adpcm", "freertos", "rtm"):
        assert f"{name} vcpu 0: BadVAddr is a virtual address" in system.printed
        assert f"{name} stopped by a fatal trap" in system.printed


@pytest.mark.parametrize("board", BOARDS)
def test_a_missing_guest_id_is_reported(board: str) -> None:
    system = run("m5150", board, "--model", "guest-id-bits=1")
    assert system.code == 1
    assert "error: this machine lacks GuestIDs of two bits" in system.printed


@pytest.mark.parametrize("board", TARGETS)
def test_messages(board: str) -> None:
    system = run("pingpong", board, limit="100M")
    assert system.code == 0, system.printed[-2000:] + system.remarks
    assert "pingpong: 12800 messages, each as it was sent" in system.text("ping"), system.text("ping")


@pytest.mark.parametrize("model", [(), ("guest-id-bits=2",), ("guest-id-bits=2", "tlb-duplicate=ignored")])
def test_more_vms_than_guest_ids(model: tuple[str, ...]) -> None:
    """Eight VMs share six GuestIDs, or two if GuestCtl1.ID has two bits."""
    system = run("eight", "m5150-generic", *(word for value in model for word in ("--model", value)), limit="300M")
    for name in (f"adpcm-{n}" for n in range(8)):
        assert "samples 0xb7b3613a" in system.text(name), name
    assert system.code == 0
