# SPDX-License-Identifier: Apache-2.0
"""
How deep the hypervisor's stack can get, from the compiler's own call graph and frames (gcc -fcallgraph-info=su).

Calls through pointers are resolved by a table: which functions a member can hold. It is held against what the object
files say: a function whose address is taken and that no member claims is an error, as are a call through an unknown
member, a frame without a fixed size, and recursion.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.bench.machine import BenchError, run_tool
from tessera.run.runner import ROOT

# What is called through a pointer: the file and the name of the member or table, and which functions it can hold.
POINTERS = {
    ("arch/riscv/exit.c", "read"): r"(vplic|vuart|rtc|finisher)_read",
    ("arch/riscv/exit.c", "write"): r"(vplic|vuart|rtc|finisher)_write",
    ("arch/riscv/exit.c", "breakpoint"): r"session_breakpoint",
    ("arch/riscv/sbi.c", "fn"): r"sbi_\w+",
    ("arch/riscv/sbi_legacy.c", "act"): r"legacy_(raise|fence)",
    ("core/hypercall.c", "hypercall_table"): r"no_such_call|info_get_id|watchdog_pet|ipc_\w+|rt_\w+",
    ("core/console.c", "command"): r"keys_command|frames_command",
    ("core/console.c", "step"): r"keys_list_step|frames_step",
    ("core/console.c", "divert"): r"frames_typed|channels_typed",
    ("core/sched.c", "picked"): r"session_picked",
    ("core/timer.c", "expired"): r"clock_expired|flush_due|vcpu_timer_expired|rtc_expired|route_refilled",
    ("debug/session.c", "fn"): r"attach|detach|status|stop|resume|get|set|(read|write)_memory|exception",
    **{
        (file, member): rf"edf_{member}" + ("|traced_pick" if member == "pick" else "")
        for file in ("core/sched.c", "debug/session.c")
        for member in ("init", "pick", "trace", "wake", "leave", "stop", "start", "enqueue", "hold")
    },
}
# Ends the machine, at the depth it was called at: its own frames are counted, what it was called from once more is not.
LAST = "hypervisor_panic"

_NODE = re.compile(r'^node: \{ title: "([^"]+)" label: "[^"]*?\\n(?:([0-9]+) bytes \(([a-z,]+)\))?"', re.MULTILINE)
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^":]+):(\d+):\d+"', re.MULTILINE)
_SECTION = re.compile(r"^RELOCATION RECORDS FOR \[([^]]+)\]:$")
_INDIRECT = "__indirect_call"


@dataclass
class Graph:
    """Functions by the compiler's names: a static one has its file's before it."""

    frames: dict[str, int] = field(default_factory=dict)
    calls: dict[str, set[str]] = field(default_factory=dict)
    through: list[tuple[str, str, int]] = field(default_factory=list)  # caller, file, line of a call by a pointer
    taken: set[str] = field(default_factory=set)  # whose address is taken


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
    """Names of what the object refers to otherwise than by calling it."""
    found, counts = set(), False
    for line in relocations.splitlines():
        if section := _SECTION.match(line):
            counts = not re.search(r"debug|eh_frame", section[1])
        elif counts and re.search(r"R_RISCV_(64|PCREL_HI20)", line):
            found.add(line.split()[-1].removeprefix(".text."))
    return found


def _member(file: str, line: int) -> str:
    """What is called through at a place: a member, or the table that is named there."""
    text = (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1]
    tables = [name for where, name in POINTERS if where == file and re.search(rf"\b{name}(?:\[[^]]*\])?[^=;]*\(", text)]
    if not tables:
        raise BenchError(f"{file}:{line}: a call through a pointer that stack_depth.py does not know: {text.strip()}")
    return max(tables, key=len)


def _resolve(graph: Graph) -> None:
    """Turns calls through pointers into calls."""
    claimed: set[str] = set()
    for caller, file, line in graph.through:
        may = re.compile(POINTERS[file, _member(file, line)])
        targets = {title for title in graph.taken if may.fullmatch(_plain(title))}
        graph.calls.setdefault(caller, set()).update(targets)
        claimed |= targets
    # Its address is taken for an array in it, or by assembly's tables: what is called by name only needs no claim.
    called = {callee for callees in graph.calls.values() for callee in callees}
    lost = {title for title in graph.taken - claimed if title not in called}
    if lost:
        raise BenchError(f"called through a pointer that stack_depth.py does not know: {', '.join(sorted(lost))}")


def read_graph(objects: Iterable[Path]) -> Graph:
    """Of object files with the .ci files that the compiler has left beside them."""
    graph, named = Graph(), set()
    for path in objects:
        _read_calls(graph, path.with_suffix(".ci").read_text(encoding="utf-8"))
        named |= _addresses(run_tool(["riscv64-unknown-elf-objdump", "-r", str(path)]))
    graph.taken = {title for title in graph.frames if _plain(title) in named}
    _resolve(graph)
    return graph


def _last_words(graph: Graph) -> set[str]:
    """What is only called when the machine is about to end."""
    found, waiting = set(), [LAST]
    while waiting:
        title = waiting.pop()
        if title not in found:
            found.add(title)
            waiting += graph.calls.get(title, set())
    return found


def deepest(graph: Graph) -> tuple[int, list[str]]:
    """Bytes of the deepest chain of calls, and the chain. What fails while the hypervisor says that it has failed is
    not counted."""
    known: dict[str, tuple[int, list[str]]] = {}
    end = _last_words(graph)

    def below(title: str, above: tuple[str, ...]) -> tuple[int, list[str]]:
        if title in above:
            raise BenchError(f"recursion: {' > '.join((*above[above.index(title) :], title))}")
        if title not in known:
            callees = graph.calls.get(title, set()) - ({LAST} if title in end else set())
            size, chain = max((below(callee, (*above, title)) for callee in callees), default=(0, []))
            known[title] = (graph.frames.get(title, 0) + size, [title, *chain])
        return known[title]

    return max(below(title, ()) for title in graph.frames)
