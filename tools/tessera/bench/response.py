# SPDX-License-Identifier: Apache-2.0
"""
The response of a task of an RTOS to a timer interrupt (tests/guests/response), natively, in a VM alone, and beside
a busy VM: instructions from the time at which the interrupt is due to the task's first one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tessera.bench.parse import Figure, ParseError, is_done, summary

SITUATIONS = ("computing", "asleep")  # of the processor when the interrupt comes
NATIVE, VM, LOAD, ADDED = ".native", "", ".load", ".added"  # ends of the metrics
LEAST = 50  # samples of a distribution
SYSTEMS = {  # with accelerators: end of the metric, system
    ".own": "response-accel",
    ".preempt": "response-accel-preempt",
    ".preempt_configure": "response-accel-other",
}
US_PER_TICK = 0.1  # of QEMU's time CSR
_SAMPLE = re.compile(r"^(RESPONSE|JOB) (\w+) (\d+)$", re.MULTILINE)
_PREEMPTIONS = re.compile(r"^PREEMPTIONS (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Distribution:
    """The statistics of a metric, and its samples, ascending; no samples: a difference of two distributions."""

    figure: Figure
    samples: tuple[float, ...] = ()


def samples(console: str, what: str = "RESPONSE") -> dict[str, list[int]]:
    """
    Returns the responses (or JOB: the times of jobs) of each situation that a guest has printed, ascending. Raises
    ParseError if it did not finish, or has fewer than LEAST of a situation.
    """
    if "BENCH failed" in console or not is_done(console):
        raise ParseError(f"the guest that measures responses printed only: {console[-200:]!r}")
    found: dict[str, list[int]] = {name: [] for name in SITUATIONS}
    for kind, situation, value in _SAMPLE.findall(console):
        if kind == what:
            found[situation].append(int(value))
    few = [name for name, values in found.items() if len(values) < LEAST]
    if few:
        raise ParseError(f"fewer than {LEAST} samples of {what}: {', '.join(few)}")
    return {name: sorted(values) for name, values in found.items()}


def beside(console: str, load: str) -> dict[str, list[int]]:
    """Returns the responses beside a busy VM, which prints `load`. Raises ParseError if it was not busy to the end."""
    if "BENCH failed" in load or not is_done(load):
        raise ParseError(f"the busy VM ended too early: {load[-200:]!r}")
    return samples(console)


def added(metric: str, native: Figure, in_vm: Figure) -> Figure:
    """Returns what a VM adds to the least, the median and the worst response."""
    least, middle, most = in_vm.min - native.min, in_vm.median - native.median, in_vm.max - native.max
    return Figure(metric, native.unit, least, middle, most, in_vm.n)


def distributions(prefix: str, runs: Mapping[str, Mapping[str, list[int]]]) -> Iterator[tuple[str, Distribution]]:
    """
    Returns the metrics of the runs, whose keys are NATIVE, VM and LOAD, and what the VM that is alone adds (ADDED);
    each with the key of its run.
    """
    for situation in SITUATIONS:
        found = {}
        for run, responses in runs.items():
            name = f"{prefix}.response.{situation}{run}"
            found[run] = summary(name, "instructions", responses[situation])
            yield run, Distribution(found[run], tuple(responses[situation]))
        yield VM, Distribution(added(f"{prefix}.response.{situation}{ADDED}", found[NATIVE], found[VM]))


def with_accelerator(console: str, run: str, counts: bool) -> Iterator[Distribution]:
    """
    Returns the metrics of a run of SYSTEMS: times of the released task's jobs on its accelerator, and (`counts`) the
    instructions to its first one. Raises ParseError if the jobs did not take the region from the other VM's, or
    took it although it is their own.
    """
    jobs = samples(console, "JOB")
    wanted = 0 if run == ".own" else sum(len(values) for values in jobs.values())
    match = _PREEMPTIONS.search(console)
    if match is None or (int(match[1]) < wanted * 9 // 10 if wanted else int(match[1]) != 0):
        raise ParseError(f"{SYSTEMS[run]}: expected about {wanted} jobs that preempt, got {match and match[1]}")
    for situation in SITUATIONS:
        times = tuple(round(US_PER_TICK * ticks, 1) for ticks in jobs[situation])
        yield Distribution(summary(f"vdm.response.job.{situation}{run}", "us", times), times)
        if counts:
            found = samples(console)[situation]
            yield Distribution(summary(f"vdm.response.{situation}{run}", "instructions", found), tuple(found))
