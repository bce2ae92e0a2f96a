# SPDX-License-Identifier: Apache-2.0
"""VMs that use accelerators of the fabric, whose RTL runs beside QEMU (fpga/target/cosim): the guest
`accel` compares each result with software's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import pytest
from helpers import BOOT_S, OUT, SOON_S, boot_command, booted, built, command, keyboard, wait_for_signs_of_life

from tessera.bench.accel import summaries
from tessera.bench.accel_run import run_check, run_paths
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import find_qemu

# Instructions of the first write to a device's page, from the guest's point of view, of the other paths, and of an
# interrupt, hart asleep. The goals are in tools/bench-metrics.tsv.
ASSIGN_MAX = 340
PATH_MAX = {"configure": 770, "preempt": 910, "preempt_configure": 1160}
INTERRUPT_MAX = 525
# Instructions of the check at boot, for a KiB of bitstream.
AUTH_MAX = 31_000
DONE = r"accel: done, 0 wrong"
FRAMES = re.compile(
    r"frames: (?P<name>\w+): frame (?P<frames>\d+), (?P<wrong>\d+) wrong, "
    r"(?P<device>\d+) on the device, (?P<software>\d+) in software"
)
REPORT = re.compile(
    r"accel: (?P<name>\w+): (?P<requests>\d+) requests, "
    r"paths (?P<assign>\d+) (?P<assign_configure>\d+) (?P<preempt>\d+) (?P<preempt_configure>\d+), "
    r"(?P<waits>\d+) waits, lost (?P<lost>\d+) times, (?P<faults>\d+) faults"
)


@contextmanager
def accelerated(system: str) -> Iterator[Machine]:
    with booted(built(system), system) as machine:
        yield machine


def finished(system: str, done: str = DONE) -> Machine:
    """Runs a system until every guest has printed `done`, and the machine is off."""
    with accelerated(system) as machine:
        for name in machine.console.names:
            machine.expect(name, done, BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        return machine


def reports(machine: Machine, vm: str) -> dict[str, dict[str, int]]:
    """The statistics of a VM's devices, by the device's name."""
    found = {}
    for match in REPORT.finditer(machine.console.text(vm)):
        found[match["name"]] = {key: int(value) for key, value in match.groupdict().items() if key != "name"}
    return found


@pytest.fixture(scope="module")
def shared() -> Machine:
    return finished("accel")


def test_two_vms_share_the_devices(shared):
    first, second = reports(shared, "first"), reports(shared, "second")
    assert first.keys() == {"qam16", "aes128"}
    assert second.keys() == {"aes128"}
    assert first["qam16"]["assign_configure"] == 1
    assert first["aes128"]["requests"] > 0
    assert second["aes128"]["requests"] > 0
    assert not any(device["faults"] for vm in (first, second) for device in vm.values())


def test_an_allocated_device_does_not_exit(shared):
    """Its page is mapped: a write takes as many instructions as without a hypervisor."""
    mapped = re.findall(r"accel: \w+: assign \d+ to \d+ instructions, mapped (\d+)", shared.console.text("first"))
    assert mapped == ["2", "2"]


def test_request_that_is_answered_at_once(shared):
    """Path 1 of the paper, from the guest's store to its next instruction."""
    found = re.search(r"accel: qam16: assign (\d+) to (\d+) instructions", shared.console.text("first"))
    assert found is not None
    least, most = map(int, found.groups())
    assert least == most <= ASSIGN_MAX


def test_costs_of_the_paths(tmp_path):
    """The four paths beyond the times in which the fabric stops a job and configures, and a device's interrupt."""
    found, interrupts = run_paths(find_qemu(), built("bench-accel"), tmp_path)
    costs = summaries(found)
    assert min(costs["path.assign"]) <= ASSIGN_MAX
    for name, most in PATH_MAX.items():
        assert median(costs[f"path.{name}"]) <= most, name
    assert len(interrupts) > 10
    assert max(interrupts) <= INTERRUPT_MAX


@pytest.mark.long
def test_cost_of_the_check_at_boot(tmp_path):
    assert 20_000 < run_check(find_qemu(), built("bench-accel"), tmp_path) <= AUTH_MAX


@pytest.mark.long
def test_software_gives_equal_results():
    """Jobs of four tasks, with several commands each: output, size and result code are software's."""
    devices = reports(finished("accel-tasks"), "all")
    assert devices.keys() == {"qam16", "fft512", "aes128", "g722"}
    assert devices["qam16"]["assign_configure"] > 1, "two devices share a region"


def test_software_while_another_vm_has_the_region():
    """With the guest model a VM computes jobs in software until it gets the region; equal results are part of
    `accel: done, 0 wrong`. It has no device for other tasks."""
    text = finished("accel-fallback").console.text("meanwhile")
    jobs = {
        name: (int(device), int(software))
        for name, device, software in re.findall(r"accel: (\w+): (\d+) jobs on the device, (\d+) in software", text)
    }
    device, software = jobs.pop("qam16")
    assert device > 0
    assert software > 0
    assert jobs == dict.fromkeys(("aes128", "fft512", "g722"), (0, device + software))


def test_freertos_sleeps_until_the_interrupt():
    """Its tasks process frames on devices that share a region, or in software; interrupts end the jobs of devices."""
    machine = finished("accel-frames", r"frames: done")
    streams = {vm: list(FRAMES.finditer(machine.console.text(vm))) for vm in ("frames", "software")}
    for found in streams.values():
        assert [(one["name"], one["frames"], one["wrong"]) for one in found] == [
            ("g722", "20", "0"),
            ("fft512", "20", "0"),
        ]
    on_device = [int(one["device"]) for one in streams["frames"]]
    assert all(0 < jobs < 20 for jobs in on_device), on_device
    assert f"frames: done, {sum(on_device)} jobs ended by interrupts" in machine.console.text("frames")
    assert all((one["device"], one["software"]) == ("0", "20") for one in streams["software"])


@pytest.fixture(scope="module")
def preempted_by_rt() -> Machine:
    return finished("accel-rt", "done|regions: refused")


def test_rt_app_with_a_deadline(preempted_by_rt):
    """Its jobs preempt those of another VM, and each is over by the next release."""
    machine = preempted_by_rt
    assert re.search(DONE, machine.console.text("long"))
    found = re.findall(
        r"modem: qam16: (\d+) jobs on the device, 0 in software, 0 late, 0 wrong; (\d+) releases, 0 misses",
        machine.console.text("modem"),
    )
    assert found, machine.console.text("modem")
    on_device, releases = map(int, found[-1])
    assert releases >= 20
    assert on_device >= releases - 1, "the job of the last release may not be over"
    assert reports(machine, "long")["qam16"]["lost"] > 0


def test_monitor_shows_regions_and_clients(preempted_by_rt):
    """Its second table: the region's holder, and the paths of both VMs' requests."""
    table = preempted_by_rt.console.text("regions").split("region  state")[2]
    region = re.search(r" 0  (busy|reserved|idle|stops|saves) +(long|modem) +qam16 +1  4001 cycles", table)
    assert region is not None, table
    clients = {
        name: (int(priority), list(map(int, numbers.split())))
        for name, priority, numbers in re.findall(r"(\w+) +qam16 +(\d+)  (?:connected|waits|-) +([\d ]+)", table)
    }
    priority, (_, _, preempt, *_) = clients["modem"]
    assert priority == 15
    assert preempt > 0
    priority, (*_, lost, faults) = clients["long"]
    assert (priority, faults) == (0, 0)
    assert lost >= preempt


def test_only_a_monitor_may_read_the_regions(preempted_by_rt):
    text = preempted_by_rt.console.text("curious")
    assert "regions: refused: does the VM have accelerator-monitor?" in text
    assert "configured" not in text


def test_same_run_twice(shared):
    again = finished("accel")
    assert [again.console.text(vm) for vm in ("first", "second")] == [
        shared.console.text(vm) for vm in ("first", "second")
    ]


@pytest.mark.parametrize(
    ("system", "urgent", "path"),
    [("accel-preempt", "same", "preempt"), ("accel-preempt-other", "urgent", "preempt_configure")],
)
def test_jobs_are_preempted_and_resumed(system, urgent, path):
    """Jobs of lower priority are stopped, saved, and resumed; every result is right."""
    machine = finished(system)
    (device,) = reports(machine, urgent).values()
    assert device[path] > 0
    assert reports(machine, "long")["qam16"]["lost"] >= device[path]


def test_region_expires_before_the_manager_connects_it():
    """VCPUs that wait for it request the device again: every job ends."""
    machine = finished("accel-expire")
    assert reports(machine, "same")["qam16"]["lost"] > 0


def test_guest_model_and_a_job_outside_of_memory():
    machine = finished("accel-guest")
    events = machine.console.text("events")
    found = re.search(r"accel: events: first write (\d+) instructions, wait (\d), ready (\d), after (.*)", events)
    assert found is not None, events
    assert found.groups()[1:] == ("1", "1", "other work")
    assert "accel: outside: fault 1" in machine.console.text("outside")
    said = machine.console.text(HYPERVISOR)
    assert "error: outside: the job of aes128 in region" in said
    assert "accessed memory outside of the VM, address 0x70000000" in said


def test_restart_of_a_vm_whose_job_runs():
    """The operator restarts a VM again and again; each of its lives finds its device as after
    power-on, and the other VM's results stay right."""
    with accelerated("accel-restart") as machine:
        machine.expect("busy", r"accel: job 3, 0 wrong", BOOT_S)
        keyboard(machine, "busy")
        for _ in range(4):
            command(machine, "r")
            machine.expect(HYPERVISOR, r"busy stopped by the console, starts again", SOON_S)
            machine.expect("busy", r"accel: job 3, 0 wrong", SOON_S)
        machine.expect("other", r"accel: job \d+, 0 wrong", SOON_S)
        for vm in ("busy", "other"):
            assert not re.search(r"accel: job \d+, [1-9]", machine.console.text(vm)), machine.console.text(vm)


@pytest.mark.long
def test_watchdog_restarts_a_vm_that_uses_a_region():
    """Each life ends between its first job and the watchdog's time; the next one finds its device as after power-on."""
    with accelerated("accel-watchdog") as machine:
        for _ in range(6):
            machine.expect("busy", r"accel: job 1, 0 wrong", BOOT_S)
            machine.expect(HYPERVISOR, r"busy stopped by its watchdog, starts again", SOON_S)
        machine.skip("other")
        machine.expect("other", r"accel: job \d+, 0 wrong", SOON_S)
        for vm in ("busy", "other"):
            assert not re.search(r"accel: job \d+, [1-9]", machine.console.text(vm)), machine.console.text(vm)


@pytest.mark.long
def test_demo_in_real_time():
    """Without virtual time the fabric has a slower clock; results are the same."""
    system = built("accelerators")
    with booted(system, "accelerators") as machine:
        wait_for_signs_of_life(machine, system)


def test_machine_without_the_fabric():
    """The hypervisor says what is missing, and does not start a VM."""
    system = built("accel")
    words = boot_command(system)
    at = words.index("-plugin")
    log = OUT / "accel-none.log"
    with Machine([*words[:at], *words[at + 2 :]], system.names, log) as machine:
        assert machine.wait_until(lambda: not machine.running, BOOT_S), "the machine does not stop"
    # Not machine.expect(): OpenSBI 1.6 leaves a line unfinished for an instruction that is probed.
    assert b"error: cannot set up the system: there is no fabric at the address" in log.read_bytes()
