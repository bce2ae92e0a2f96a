# SPDX-License-Identifier: Apache-2.0
"""Events of any system in any order: rules shared by the property tests of VMs and of RT apps."""

from core import CORE, assert_no_violation, run_until_idle, time_now
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

INDEX = st.integers(0, 1000)


class SystemEvents(RuleBasedStateMachine):
    """Events of a booted system with `vms` VMs on `cpus` CPUs. A pending request to wait is
    completed before each event."""

    cpus = 0
    vms = 0

    def _cpu(self, number: int) -> int:
        CORE.testbed_enter(number % self.cpus)
        return number % self.cpus

    def _vm(self, number: int) -> int:
        return number % self.vms

    def _total(self, vm: int) -> int:
        """The VCPUs of a VM, RT apps included."""
        raise NotImplementedError

    # One rule for all kinds of stop: with one rule each, few VMs would be running.
    @rule(cpu=INDEX, vm=INDEX, how=st.sampled_from(("console", "guest", "fault", "off")), restart=st.booleans())
    def stop(self, cpu: int, vm: int, how: str, restart: bool) -> None:
        cpu = self._cpu(cpu)
        if how == "console":
            CORE.testbed_vm_stop(cpu, self._vm(vm), restart)
        elif how == "guest":
            CORE.testbed_guest_ends(cpu, restart)
        elif how == "fault":
            CORE.testbed_guest_faults(cpu)
        else:
            CORE.testbed_off(cpu)

    @rule(cpu=INDEX, ticks=st.integers(0, 50000))
    def guest_sleeps(self, cpu: int, ticks: int) -> None:
        CORE.testbed_wait_until(self._cpu(cpu), time_now(CORE) + ticks)

    @rule(cpu=INDEX, vm=INDEX, vcpu=st.one_of(st.none(), INDEX))
    def suspend_or_resume(self, cpu: int, vm: int, vcpu: int | None) -> None:
        """Suspends the VCPU that runs on a CPU, or resumes a VCPU, suspended or not."""
        cpu, vm = self._cpu(cpu), self._vm(vm)
        if vcpu is None:
            CORE.testbed_suspend(cpu)
        else:
            CORE.testbed_resume(cpu, vm, vcpu % self._total(vm))

    @rule(ticks=st.integers(1, 30000))
    def time_passes(self, ticks: int) -> None:
        CORE.testbed_advance(ticks)

    @precondition(lambda self: self.cpus > 0)
    @rule()
    def become_idle(self) -> None:
        run_until_idle()

    @invariant()
    def invariants_hold(self) -> None:
        if self.cpus > 0:
            assert_no_violation(CORE.testbed_violation())

    def teardown(self) -> None:
        if self.cpus > 0:
            run_until_idle()
