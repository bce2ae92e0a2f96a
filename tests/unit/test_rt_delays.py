# SPDX-License-Identifier: Apache-2.0
"""
Jobs of RT apps on devices, in the simulator of tests/unit/delay_model.py: with the bound of devices/accel/delay.c and
rt/admit.c, no job of an accepted set is late; and without any one of its terms, a job takes longer than the bound.
"""

import ctypes
from copy import deepcopy
from ctypes import POINTER, c_uint, c_uint64, c_void_p
from dataclasses import replace
from random import Random

import pytest
from c_headers import values
from core import CORE, LONG, TICKS_PER_US, Admit, Costs, Demand, lines
from delay_model import CYCLE_NS, Device, Hart, Result, System
from rt import boot

from tessera.image.accel import accel_image

DELAYED, ADMITTED, UNDECIDED = values("rt_admit.h", "RT_DELAYED RT_ADMITTED RT_UNDECIDED")
BOUNDED = values("resource.h", "RESOURCE_BOUNDED")[0]
CORE.testbed_delay_set.restype, CORE.testbed_delay_set.argtypes = None, [c_void_p]
CORE.testbed_delay_bound.restype = c_uint
CORE.testbed_delay_bound.argtypes = [c_uint, c_uint, c_uint64, *[POINTER(c_uint64)] * 2]
TICK_NS = 1000 // TICKS_PER_US
CLIENTS = 4
US = 1000


def device_rows(system: System) -> list[dict[str, int | bytes]]:
    stops = {device.number: device.stop for device in system.devices}
    same = {"name": b"d", "size_class": 0, "regions": 7}
    return [{**same, "task": n + 1, "stop_cycles": stops.get(n, 0)} for n in range(max(stops) + 1)]


def section(system: System) -> bytes:
    """The image's section of a system, as the builder lays it out."""
    streams = sorted({(d.number, region, size) for d in system.devices for region, size in d.words.items()})
    uses = [(d.vm, d.number, d.priority) for d in system.devices]
    arrays = {
        "clients": (
            accel_image.CLIENT,
            [{"vm": n, "event_irq": 11, "may_raise": 0, "operated": 0} for n in range(CLIENTS)],
        ),
        "devices": (accel_image.DEVICE, device_rows(system)),
        "bitstreams": (
            accel_image.BITSTREAM,
            [{"device": d, "region": r, "offset": 0, "size": 4 * size, "verify": 0} for d, r, size in streams],
        ),
        "accels": (
            accel_image.ACCEL,
            [{"client": vm, "device": d, "priority": prio, "model": 1, "gpa": 0} for vm, d, prio in uses],
        ),
    }
    body, fields = b"", {}
    for name, (record, rows) in arrays.items():
        fields |= {f"n{name}": len(rows), f"{name}_offset": accel_image.IMAGE.size + len(body)}
        body += b"".join(record.pack(**row) for row in rows)
    return (
        accel_image.IMAGE.pack(
            fabric=0,
            irq=0,
            regions=system.regions,
            nframes=0,
            frames_offset=0,
            idcode=0,
            hold_cycles=system.hold // CYCLE_NS,
            stop_cycles=0,
            monitors=0,
            clock_khz=100_000,
            interrupt_cycles=system.look // CYCLE_NS,
            section_ns=system.section,
            sources=0,
            timers=system.timers,
            reserved=0,
            **dict.fromkeys(("noverlays", "overlays_offset", "nfragments", "fragments_offset"), 0),
            **dict.fromkeys(("nprovided", "provided_offset"), 0),
            **fields,
        )
        + body
    )


def boot_vms(blocked: int) -> None:
    boot(1, [1] * CLIENTS, [0] * CLIENTS, costs_ns=(0, 0, blocked))


def wait_of(system: System, blocked: int) -> tuple[int, int]:
    """The manager's bound for the first device, and for how long its region is kept, in ticks; 0 if it has none."""
    boot_vms(blocked)
    data = ctypes.create_string_buffer(section(system))
    longest, kept = c_uint64(), c_uint64()
    CORE.testbed_delay_set(ctypes.addressof(data))
    answer = CORE.testbed_delay_bound(0, system.devices[0].number, 0, ctypes.byref(longest), ctypes.byref(kept))
    lines()  # a refusal prints names of the section, which ends here
    return (longest.value, kept.value) if answer == BOUNDED else (0, 0)


def ticks(ns: int) -> int:
    return -(-ns // TICK_NS)


def admit(system: System, wait: int, blocked: int) -> tuple[int, int]:
    """The verdict, and the bound on the delay in ns if it is one of the delay."""
    rows = [(ticks(budget), ticks(deadline), ticks(period)) for budget, deadline, period, _ in system.apps]
    demands = (Demand * len(rows))(*(Demand(*row) for row in rows))
    demands[0].wait = wait + ticks(system.devices[0].job)
    test, costs, verdict = Admit(), Costs(blocked=ticks(blocked)), UNDECIDED
    CORE.rt_admit_begin(test, demands, len(rows), 1, costs)
    while verdict == UNDECIDED:
        verdict = CORE.rt_admit_step(test)
    return verdict, delay(rows, demands[0].wait, ticks(blocked)) * TICK_NS


def can_expire(system: System, kept: int) -> bool:
    """Whether the app may not have the device, because its region is kept for a shorter time than a job may take."""
    _, deadline, period, _ = system.apps[0]
    return kept < ticks(period - deadline)


def delay(rows: list[tuple[int, int, int]], wait: int, blocked: int) -> int:
    """The fixed point, by the definition."""
    end = 0
    while True:
        following = wait + blocked * len(rows) + sum(-(-(end + d) // period) * cost for cost, d, period in rows)
        if following == end or following > 10**9:
            return following
        end = following


def devices(random: Random, regions: int) -> list[Device]:
    """The app's device, with the highest priority, and those of other VMs; VMs that share a device share its task."""
    tasks = []
    for number in range(random.randint(2, 4)):
        of = random.sample(range(regions), random.randint(1, regions))
        tasks.append((number, {region: random.randint(50, 2000) for region in of}, random.randint(30, 1200)))
    found = [Device(0, 0, 15, tasks[0][1], 0, random.randint(1, 50) * US)]
    for vm in range(1, CLIENTS):
        for number, words, _ in random.sample(tasks, random.randint(1, len(tasks))):
            found.append(Device(vm, number, random.randint(0, 14), words, 0, random.randint(1, 400) * US))
    for device in found:
        device.stop = tasks[device.number][2]
    return found


def random_system(random: Random) -> System:
    regions = random.randint(1, 3)
    count = random.randint(1, 4)
    apps = []
    for n in range(count):
        period = random.choice((500, 1000, 2000, 4000)) * US
        deadline = period if n else random.randint(period // 10, period // 2)
        budget = max(US, min(deadline, period // 4, random.randint(1, period) // (3 * count)))
        apps.append((budget, deadline, period, random.randint(0, period)))
    return System(
        devices=devices(random, regions),
        regions=regions,
        hold=random.choice((50, 500, 5000)) * US,
        blocked=random.choice((0, 1600, 8000)),
        section=random.choice((100, 500, 1600)),
        timers=random.randint(0, 20),
        look=random.choice((0, 1000)),
        apps=apps,
        gap=random.choice((20, 100, 400)) * US,
    )


def simulated(system: System, jobs: int, seed: int) -> Result:
    """Simulates the system; the declared time to stop is in cycles without, the simulated one with shared memory."""
    real = deepcopy(system)
    for device in real.devices:
        device.stop = (device.stop * (real.regions + 1) + 160 * (real.regions + 1)) * 10
    return Hart(real, Random(seed)).run(jobs)


JOBS = 100_000 if LONG else 1500
JOBS_OF_A_SET = 50


@pytest.mark.slow
def test_no_job_of_an_accepted_set_is_late() -> None:
    """Random sets, until enough jobs of accepted ones are simulated; many are refused: the sets are near the limit."""
    jobs, accepted, refused, closest, seed = 0, 0, 0, 0.0, 0
    while jobs < JOBS:
        seed += 1
        system = random_system(Random(seed))
        blocked = max(system.blocked, system.section)
        wait, kept = wait_of(system, blocked)
        assert wait != 0, "the app's device has the highest priority"
        verdict, longest = admit(system, wait, blocked)
        refused += verdict == DELAYED
        if verdict != ADMITTED or can_expire(system, kept):
            continue
        result = simulated(system, JOBS_OF_A_SET, seed)
        assert (result.late, result.missed) == (0, 0), f"set {seed}"
        assert max(result.delays) <= longest, f"set {seed}: {max(result.delays)} ns, bound {longest}"
        closest = max(closest, max(result.delays) / longest)
        jobs, accepted = jobs + result.jobs, accepted + 1
    print(
        f"{jobs} jobs of {accepted} accepted sets, {refused} refused, longest delay {100 * closest:.0f} % of its bound"
    )
    assert refused > accepted // 10


# --- each term is needed ---


def crowded(regions: int = 1, **changes: int) -> System:
    """The app's device shares the regions with two tasks of each other VM, whose jobs are long; all times are short."""
    words = dict.fromkeys(range(regions), 20)
    found = [Device(0, 0, 15, words, 1, US)]
    for vm in range(1, CLIENTS):
        found += [Device(vm, number, vm, words, 1, 300 * US) for number in (2 * vm - 1, 2 * vm)]
    system = System(
        devices=found,
        regions=regions,
        hold=500 * US,
        blocked=0,
        section=100,
        timers=0,
        look=0,
        apps=[(10 * US, 100 * US, 10_000 * US, 0)],
        gap=20 * US,
        longest=1.0,
    )
    return replace(system, **changes)


def with_words(system: System, words: int, regions: int = 8) -> System:
    """The same, with bitstreams of so many words in the regions below `regions`."""
    changed = deepcopy(system)
    for device in changed.devices:
        device.words = {region: words if region < regions else size for region, size in device.words.items()}
    return changed


def with_stop(system: System, cycles: int) -> System:
    changed = deepcopy(system)
    for device in changed.devices:
        device.stop = cycles
    return changed


def with_job(system: System, ns: int) -> System:
    """The same, with this length of the app's jobs on its device."""
    changed = deepcopy(system)
    changed.devices[0].job = ns
    return changed


def bound_of(system: System) -> int:
    return admit(system, wait_of(system, system.blocked)[0], system.blocked)[1]


BUSY = [(10 * US, 100 * US, 10_000 * US, 0), (400 * US, 1000 * US, 1000 * US, 0)]
# The app's job on the device ends while the other app runs, which it does until the next START: the region is given
# away, and the manager has not seen it.
UNSEEN = [(10 * US, 100 * US, 500 * US, 0), (250 * US, 500 * US, 500 * US, 250 * US)]
TERMS = {  # a system, and the bound without the term
    "stop": (with_stop(crowded(), 20_000), lambda s: bound_of(with_stop(s, 0))),
    "own configuration": (with_words(crowded(), 50_000), lambda s: bound_of(with_words(s, 1))),
    "configuration that has begun": (with_words(crowded(), 50_000), lambda s: bound_of(s) - (50_000 + 17) * 10),
    "queue of the port": (with_words(crowded(3), 50_000, 2), lambda s: bound_of(with_words(s, 1, 2))),
    "blocking": (crowded(blocked=300 * US), lambda s: bound_of(replace(s, blocked=0))),
    "sections of the manager": (crowded(section=100 * US), lambda s: bound_of(replace(s, section=0))),
    "latency of the interrupt": (crowded(look=100 * US), lambda s: bound_of(replace(s, look=0))),
    "timers": (
        with_job(crowded(timers=5000, section=1000, apps=UNSEEN), 260 * US),
        lambda s: bound_of(replace(s, timers=0)),
    ),
    "apps": (crowded(apps=BUSY), lambda s: bound_of(replace(s, apps=BUSY[:1]))),
}


@pytest.mark.slow
@pytest.mark.parametrize("term", TERMS)
def test_every_term_is_needed(term: str) -> None:
    """Some job takes longer than the bound without the term, and none longer than the bound."""
    system, without = TERMS[term]
    less, bound, longest = without(system), bound_of(system), 0
    for seed in range(40):
        result = simulated(system, 100, seed)
        longest = max(longest, *result.delays)
        assert longest <= bound
        if longest > less:
            print(f"{term}: {longest} ns, bound {bound}, without the term {less}")
            return
    raise AssertionError(f"{term}: {longest} ns, bound {bound}, without the term {less}")


@pytest.mark.parametrize(("regions", "bounded"), [((1,), True), ((0, 1), False)])
def test_only_devices_that_share_a_region_are_rivals(regions: tuple[int, ...], bounded: bool) -> None:
    """The other VM's device has a higher priority."""
    other = Device(1, 1, 9, dict.fromkeys(regions, 20), 1, US)
    system = replace(crowded(2), devices=[Device(0, 0, 1, {0: 20}, 1, US), other])
    assert (wait_of(system, 0)[0] != 0) == bounded


# The second app runs while the region is configured for the first one, until the region has expired and is another
# device's; when the first one has it again, the second app's next job has begun.
EXPIRES = [(10 * US, 100 * US, 10_010 * US, 0), (100 * US, 300 * US, 300 * US, 0)]


@pytest.mark.slow
def test_a_region_must_be_kept() -> None:
    """With a region that expires too early, which is refused, a job is late, though the bound is less than a period."""
    kept = with_words(crowded(hold=10_000 * US, apps=EXPIRES), 12_000)
    expires = replace(kept, hold=20 * US)
    assert can_expire(expires, wait_of(expires, 0)[1]) and not can_expire(kept, wait_of(kept, 0)[1])
    assert admit(expires, wait_of(expires, 0)[0], 0)[0] == ADMITTED
    assert simulated(expires, JOBS_OF_A_SET, 0).late > 0
    assert simulated(kept, JOBS_OF_A_SET, 0).late == 0
