# SPDX-License-Identifier: Apache-2.0
"""The words of the benchmark's pictures: metrics, units, hypervisors, and their colours."""

from dataclasses import dataclass

OURS = "#1b6ca8"
OURS_PALE = "#9dc3e0"  # Tessera in a second configuration
LIMIT = "#b03a2e"


@dataclass(frozen=True)
class Peer:
    """Another hypervisor. `published`: its authors' figures; the others were measured for this
    project, on the same machine."""

    name: str
    published: str = ""

    @property
    def label(self) -> str:
        return self.words()

    def words(self, qemu: str = "") -> str:
        """Returns the name and the source. `qemu`: the version in which the figures were measured."""
        if self.published:
            return f"{self.name} (published: {self.published})"
        return f"{self.name} (measured by us{f' in QEMU {qemu}' if qemu else ''})"


PEERS = {
    "bao": Peer("Bao"),
    "kvm": Peer("Linux KVM"),
    "hellfire": Peer("Hellfire, successor of the M5150 hypervisor"),
    "m5150": Peer("M5150 hypervisor", "PUCRS"),
    "kerone": Peer("Ker-ONE, times in cycles of a Cortex-A9", "INSA Rennes"),
}
PEERS_QEMU = "10.0"  # where those on RISC-V were measured (tools/bench-metrics.tsv)
PEER_COLOURS = {"bao": "#d98032", "kvm": "#7a7a7a", "hellfire": "#6a9a3a", "m5150": "#8a5ab0", "kerone": "#b05a7a"}
PEER_MARKERS = {"bao": "o", "kvm": "^", "hellfire": "v", "m5150": "s", "kerone": "D"}

UNITS = {
    "instructions": "executed instructions",
    "percent": "overhead, % of the instructions executed without a hypervisor",
    "share": "passes in a VM, % of those without a hypervisor (more is better)",
    "ratio": "executed instructions, in a VM / without a hypervisor",
    "us": "time in us",
    "ns": "time in ns",
    "bytes": "bytes",
    "lines": "lines of code",
    "count": "number",
}

_CODEC = "audio codec, {}, time slices of {} ms"
_SECTION = "longest non-preemptible section"
_LOCK = "longest time that a lock is held"
_SCHEDULER = "longest time that the scheduler's lock is held"
_ON = {"h1": "1 hart", "h2": "2 harts", "h4": "4 harts", "h8": "8 harts"}
_SEVERAL = ("h2", "h4", "h8")

# The rows of tests/guests/thread_metric.
SERVICES = {
    "calibration": "computation of a task",
    "cooperative": "tasks of equal priority yield",
    "preemptive": "tasks resume each other",
    "messages": "messages of 16 bytes",
    "memory": "memory of 128 bytes",
    "synchronization": "semaphore",
    "interrupt": "interrupt gives a semaphore",
    "preemption": "interrupt resumes a task",
}
_SHARE = SERVICES | {"min": "the lowest of its services"}
_REGION = {  # of a job on an accelerator
    ".own": "own region",
    ".preempt": "another VM's is preempted",
    ".preempt_configure": "the same, and configured",
}
_BESIDE = (("", ""), (".load", ", beside a busy VM"))

# Metrics in the overviews; curves over sizes or VMs have pictures of their own.
LABELS = {
    "hypercall.null": "hypercall that does nothing",
    "sbi.base": "SBI call: version",
    "sbi.set_timer": "SBI call: set the timer",
    "sbi.ipi_self": "SBI call: interrupt to the calling CPU",
    "wfi.pending": "wait for interrupt (WFI), one is pending",
    "timer.added": "delay added to a guest's timer interrupt",
    "mmio.uart_load": "read of an emulated UART register",
    "plic.claim_complete": "emulated interrupt controller: claim and complete",
    "switch.quantum": "switch to another VM at the end of its time slice",
    "tick.same": "hypervisor's timer interrupt without a switch",
    "tick.switch": "switch to another VM, with shadow register sets",
    "tick.switch.shared": "switch to another VM, without shadow register sets",
    "ipc.send.100": "send a message of 100 bytes",
    "ipc.send.first.100": "send 100 bytes to an empty inbox",
    "ipc.recv.100": "receive a message of 100 bytes",
    "ipc.delivery.100": "deliver 100 bytes, sender's call to receiver's task",
    "virtio.notify": "notify a virtio device whose queue is empty",
    "virtio.net.1500": "send a frame of 1500 bytes to another VM (virtio-net)",
    "virtio.iperf.ratio": "TCP between two Linux VMs, to that between two native QEMUs",
    "virtio.iperf.vms": "TCP between two Linux VMs",
    "virtio.iperf.native": "TCP between two native QEMUs with a socket",
    "virtio.wake": "wake another VM by a doorbell (ivshmem), acknowledgement included",
    "virtio.wake.first": "wake another VM by a doorbell (ivshmem), to its first instruction",
    "boot.first_guest_insn": "boot to the first guest instruction",
    "vm.restart": "restart of a VM by its watchdog",
    "load.late.max": "largest delay of a 1 ms timer while another VM restarts",
    "linux.boot_ratio": "Debian Linux, from boot to power-off",
    "adpcm.1vm.q1ms": _CODEC.format("1 VM", 1),
    "adpcm.1vm.q5ms": _CODEC.format("1 VM", 5),
    "adpcm.1vm.q10ms": _CODEC.format("1 VM", 10),
    "adpcm.2vm.q1ms": _CODEC.format("2 VMs", 1),
    "adpcm.4vm.q1ms": _CODEC.format("4 VMs", 1),
    "adpcm.8vm.q1ms": _CODEC.format("8 VMs", 1),
    "adpcm.2vm.q1ms.1gips": _CODEC.format("2 VMs", 1) + ", 10 times as fast a core",
    "rt.release.max": "release of one of 8 real-time apps, preempting a VM",
    "rt.release.one": "release of a single real-time app, preempting a VM",
    "rt.misses": "deadline misses in a million releases",
    "rt.overruns": "exhausted budgets in a million releases",
    "rt.late.max": "latest start of a job in a million releases",
    "operator.late.max": "longest time without best-effort VMs",
    "rt.cost.release": "largest cost of a release to the interrupted VM",
    "rt.cost.job": "largest cost of the end of a job",
    "rt.blocked": _SECTION,
    "path.assign": "region of the fabric: assign",
    "path.configure": "region: assign and configure",
    "path.preempt": "region: preempt",
    "path.preempt_configure": "region: preempt and configure",
    "vdm.irqoff.max": "longest section of the manager of accelerators, under attack",
    "rt.device.delay": "delay of an app's job on a shared accelerator",
    "interrupt": "interrupt of an accelerator, to its guest",
    "term.trap": "region, term T_trap",
    "term.search": "region, term T_search",
    "term.solution_assign": "region, term T_solution, assign",
    "term.solution_configure": "region, term T_solution, configure",
    "term.solution_preempt": "region, term T_solution, preempt",
    "term.pl_irq": "region, term T_PL_irq",
    "term.irq_pcap": "region, term T_irq_pcap",
    "term.irq_stop": "region, term T_irq_stop",
    "term.resume": "region, term T_resume",
    **{f"vdm.threadmetric.{row}{end}": f"FreeRTOS{to}: {what}" for row, what in _SHARE.items() for end, to in _BESIDE},
    "response.computing.added": "added to the worst response of a FreeRTOS task, computing",
    "response.asleep.added": "added to the worst response of a FreeRTOS task, asleep",
    **{
        f"response.job.{situation}{end}": f"result of a FreeRTOS task's job, {situation}: {words}"
        for situation in ("computing", "asleep")
        for end, words in _REGION.items()
    },
    "phase.total": "overlay of 5.9 MB: whole transaction",
    "phase.share": "overlay of 5.9 MB: all but the ICAP's configuration",
    "size.text": "code and constants, without optional components",
    "mips.size.text": "code and constants, with real time and messages, optimized for size",
    "size.loc": "lines of code, without optional components",
    "size.loc.all": "lines of code, with all components",
    "size.ram.vm": "RAM for each VM",
    "stack.static": "stack of a hart: deepest chain of calls",
    "stack.used": "stack of a hart: largest use in a run",
    "irqoff.max": f"{_SECTION}, under attack",
    "irqoff.max.h1": f"{_SECTION}, 1 hart",
    **{f"irqoff.max.{end}": f"{_SECTION}, {_ON[end]}: computed bound" for end in _SEVERAL},
    **{f"virtio.irqoff.max.{end}": f"{_SECTION}, {_ON[end]}, with PCI functions: computed bound" for end in _SEVERAL},
    **{f"lock.hold.max.{end}": f"{_LOCK}, {harts}" for end, harts in _ON.items()},
    **{f"lock.hold.sched.{end}": f"{_SCHEDULER}, {_ON[end]}" for end in _SEVERAL},  # one hart takes no locks
}  # fmt: skip


def metric_label(metric: str) -> str | None:
    """Returns the words for a metric, which may be the same on all architectures; None if the
    overviews leave it out."""
    return LABELS.get(metric) or LABELS.get(metric.partition(".")[2])
