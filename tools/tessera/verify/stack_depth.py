# SPDX-License-Identifier: Apache-2.0
"""
The deepest possible use of the hypervisor's stack, from the compiler's call graph and frames (gcc
-fcallgraph-info=su).

Calls through pointers are resolved by a table: the functions that a member can hold. The table is
checked against the object files: a function whose address is taken and that no member lists is an
error, as are a call through an unknown member, a frame without a fixed size, and recursion.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.bench.machine import BenchError, run_tool
from tessera.run.runner import ROOT
from tessera.verify.components import hypercall_functions

# Calls through pointers: the file and the name of the member or table, and the functions that it
# can hold.
POINTERS = {
    ("arch/riscv/exit.c", "read"): r"(vplic|vuart|rtc|finisher|ecam)_read|bars_load",
    ("arch/riscv/exit.c", "write"): r"(vplic|vuart|rtc|finisher|ecam)_write|bars_store",
    ("arch/riscv/exit.c", "breakpoint"): r"session_breakpoint",
    ("arch/riscv/sbi.c", "fn"): r"sbi_\w+",
    ("arch/riscv/compat/sbi_legacy.c", "act"): r"legacy_(raise|fence)",
    ("core/hypercall.c", "hypercall_table"): rf"no_such_call|ring_by_call|{hypercall_functions()}",
    ("services/console/console.c", "command"): r"keys_command",
    ("services/console/console.c", "step"): r"keys_list_step|frames_step",
    ("services/console/keys.c", "line"): r"ports_line",
    ("services/console/console.c", "divert"): r"frames_typed|channels_typed",
    ("rt/admit.c", "pass"): r"utilized|common_multiple|released|deadline_before|demanded|first_user|interfering",
    ("rt/admit.c", "finish"): r"finish_\w+",
    ("core/hypercall.c", "traces"): r"trace_(send|receive)",
    ("core/component.c", "boot_tree"): r"fwtree_check",
    ("core/component.c", "boot_seed"): r"seed_take",
    ("core/component.c", "make_key"): r"seed_key",
    ("core/component.c", "vm_loaded"): r"seed_step",
    ("devices/virtio/accelerator.c", "exists"): r"accelerator_exists",
    ("devices/virtio/accelerator.c", "pending"): r"accelerator_pending",
    ("devices/virtio/accelerator.c", "mask"): r"accelerator_mask",
    ("devices/virtio/hardware_io.c", "pages"): r"hardware_io_pages",
    ("devices/virtio/hardware_io.c", "pending"): r"hardware_io_pending",
    ("devices/virtio/hardware_io.c", "mask"): r"hardware_io_mask",
    ("devices/virtio/crypto.c", "begin"): r"cipher_unit_begin",
    ("devices/virtio/crypto.c", "result"): r"cipher_unit_result",
    ("devices/virtio/crypto.c", "stop"): r"cipher_unit_stop",
    ("core/component.c", "boot"): r"boot|(ipc|rt_queues|shared|virtio)_boot",
    ("core/component.c", "vm_start"): r"ipc_forget_doorbells",
    ("core/component.c", "vm_reset"): r"rtc_reset|(accel|shared|virtio)_vm_reset",
    ("core/component.c", "vm_stop"): r"(accel|shared|virtio)_vm_stop",
    ("core/component.c", "cpu_sync"): r"cpu_sync",
    ("core/include/component.h", "write_fault"): r"accel_write_fault",
    ("core/component.c", "resource_bound"): r"(accel|shared)_bound",
    ("core/include/component.h", "vcpu_start"): r"ipc_open|overlay_vcpu_start",
    ("core/include/component.h", "vcpu_stop"): r"ipc_close|accel_vcpu_stop",
    ("services/fwtree/compare.c", "take"): r"take_\w+",
    (
        "devices/virtio/boot.c",
        "boot",
    ): r"(net|blk|rng|vsock|console|crypto|accelerator|hardware_io|host|ivshmem|server)_boot",
    ("devices/virtio/intx.c", "mask"): r"(io_)?function_mask",
    ("devices/virtio/pci.c", "pending"): r"(io_)?function_pending",
    ("devices/virtio/boot.c", "stop"): r"host_stop",
    ("devices/virtio/pci.c", "config_space"): r"host_config",
    ("devices/virtio/pci.c", "command"): r"host_command",
    ("devices/virtio/ivshmem.c", "ring_without_function"): r"ipc_ring|no_such_call",
    ("devices/virtio/pci.c", "config"): r"(net|blk|vsock|console|crypto|server)_config",
    ("devices/virtio/notify.c", "waiting"): r"(vsock|console|server)_waiting",
    ("devices/virtio/notify.c", "stop"): r"crypto_stop",
    ("devices/virtio/server.c", "step"): r"blk_step",
    ("devices/virtio/notify.c", "serve"): r"vsock_serve",
    ("devices/virtio/intx.c", "serve"): r"vsock_serve",
    ("devices/virtio/notify.c", "step"): r"(net|blk|rng|vsock|console|crypto|server)_step",
    ("devices/virtio/stop.c", "reset"): r"(net|blk|rng|vsock|console|crypto|server)_reset",
    ("devices/accel/overlay.c", "phase"): r"overlay_(ldto|lfw|dcpl|lcfg|cpl|updt|ldrv|udto|udrv|open|rollback)",
    ("arch/riscv/plic.c", "handlers"): r"(accel|shared)_interrupt",
    ("core/sched.c", "picked"): r"session_picked",
    ("core/vcpu.c", "hold"): r"edf_hold",
    ("core/sched.c", "step"): r"vm_(load|stop)_step",
    ("core/sched.c", "done"): r"vm_(loaded|stopped)",
    ("core/sched.c", "vcpu_turned_off"): r"vm_vcpu_turned_off",
    ("core/sched.c", "wrapped"): r"edf_(pick|trace)",  # a class, never the one that wraps it
    (
        "core/timer.c",
        "expired",
    ): r"(clock|vcpu_timer|rtc|poll)_expired|flush_due|route_refilled|(shared_)?report_again|accel_continue"
    r"|look_at_units|do_next",
    ("services/debug/session.c", "fn"): r"attach|detach|status|stop|resume|get|set|(read|write)_memory|exception",
    **{
        (file, member): rf"edf_{member}" + ("|recorder_pick" if member == "pick" else "")
        for file in ("core/sched.c", "services/debug/session.c")
        for member in ("init", "pick", "trace", "wake", "leave", "stop", "start", "enqueue", "hold")
    },
}
# Ends the machine: the function's own frames are counted, but not those of a failure during the
# failure.
LAST = "hypervisor_panic"

_NODE = re.compile(r'^node: \{ title: "([^"]+)" label: "[^"]*?\\n(?:([0-9]+) bytes \(([a-z,]+)\))?"', re.MULTILINE)
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^":]+):(\d+):\d+"', re.MULTILINE)
_SECTION = re.compile(r"^RELOCATION RECORDS FOR \[([^]]+)\]:$")
_INDIRECT = "__indirect_call"


@dataclass
class Graph:
    """Functions by the compiler's names: the name of a static function includes its file."""

    frames: dict[str, int] = field(default_factory=dict)
    calls: dict[str, set[str]] = field(default_factory=dict)
    through: list[tuple[str, str, int]] = field(default_factory=list)  # caller, file, line of a call through a pointer
    taken: set[str] = field(default_factory=set)  # functions whose address is taken


def _plain(title: str) -> str:
    return title.rpartition(":")[2].partition(".")[0]


def _read_calls(graph: Graph, text: str) -> None:
    for title, size, how in _NODE.findall(text):
        if size:
            if how != "static":
                raise BenchError(f"{title}: its frame has no fixed size ({how})")
            graph.frames[title] = int(size)
    for caller, callee, file, line in _EDGE.findall(text):
        if callee == _INDIRECT:
            graph.through.append((caller, file, int(line)))
        else:
            graph.calls.setdefault(caller, set()).add(callee)


def _addresses(relocations: str) -> set[str]:
    """Returns the names that the object refers to other than by a call."""
    found, counts = set(), False
    for line in relocations.splitlines():
        if section := _SECTION.match(line):
            counts = not re.search(r"debug|eh_frame", section[1])
        elif counts and re.search(r"R_RISCV_(64|PCREL_HI20)", line):
            found.add(line.split()[-1].removeprefix(".text."))
    return found


def _member(file: str, line: int) -> str:
    """Returns the member, or the table, through which the line calls."""
    text = (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1]
    tables = [name for where, name in POINTERS if where == file and re.search(rf"\b{name}(?:\[[^]]*\])?[^=;]*\(", text)]
    if not tables:
        raise BenchError(f"{file}:{line}: a call through a pointer that stack_depth.py does not know: {text.strip()}")
    return max(tables, key=len)


def _resolve(graph: Graph) -> None:
    """Replaces calls through pointers by direct calls."""
    claimed: set[str] = set()
    for caller, file, line in graph.through:
        may = re.compile(POINTERS[file, _member(file, line)])
        targets = {title for title in graph.taken if may.fullmatch(_plain(title))}
        graph.calls.setdefault(caller, set()).update(targets)
        claimed |= targets
    # An address may be taken for an array in the function's section, or by a table in assembly: a
    # function that is only called by name needs no member.
    called = {callee for callees in graph.calls.values() for callee in callees}
    lost = {title for title in graph.taken - claimed if title not in called}
    if lost:
        raise BenchError(f"called through a pointer that stack_depth.py does not know: {', '.join(sorted(lost))}")


def read_graph(objects: Iterable[Path]) -> Graph:
    """Reads the call graph of object files, from the .ci files that the compiler has written to the
    same folder."""
    graph, named = Graph(), set()
    for path in objects:
        _read_calls(graph, path.with_suffix(".ci").read_text(encoding="utf-8"))
        named |= _addresses(run_tool(["riscv64-unknown-elf-objdump", "-r", str(path)]))
    graph.taken = {title for title in graph.frames if _plain(title) in named}
    _resolve(graph)
    return graph


def _called_before_the_end(graph: Graph) -> set[str]:
    """Returns the functions that are only called before the machine ends."""
    found, waiting = set(), [LAST]
    while waiting:
        title = waiting.pop()
        if title not in found:
            found.add(title)
            waiting += graph.calls.get(title, set())
    return found


def deepest(graph: Graph) -> tuple[int, list[str]]:
    """Returns the bytes of the deepest chain of calls, and the chain. A failure during the report
    of a failure is not counted."""
    known: dict[str, tuple[int, list[str]]] = {}
    end = _called_before_the_end(graph)

    def below(title: str, above: tuple[str, ...]) -> tuple[int, list[str]]:
        if title in above:
            raise BenchError(f"recursion: {' > '.join((*above[above.index(title) :], title))}")
        if title not in known:
            callees = graph.calls.get(title, set()) - ({LAST} if title in end else set())
            size, chain = max((below(callee, (*above, title)) for callee in callees), default=(0, []))
            known[title] = (graph.frames.get(title, 0) + size, [title, *chain])
        return known[title]

    return max(below(title, ()) for title in graph.frames)
