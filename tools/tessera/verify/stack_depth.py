# SPDX-License-Identifier: Apache-2.0
"""
The deepest possible use of the hypervisor's stack, from the compiler's call graph and frames (gcc
-fcallgraph-info=su).

What a call through a pointer reaches follows from the assignments in the sources (points_to). It is
checked against the object files: a function whose address is taken and that no call reaches is an
error, as are a call that can reach an unknown function or none, a frame without a fixed size, and
recursion.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.bench.machine import BenchError, run_tool
from tessera.run.runner import ROOT
from tessera.verify.c_pointers import read_facts
from tessera.verify.points_to import ANY, Atom, Call, Solution

# What the sources cannot show: of a file, the variable or field that is called, and all that it holds
# there.
NARROWED = {
    # The class of the disks that a server's VM serves; other classes' functions have no server.
    ("devices/virtio/server.c", "step"): {"blk_step"},
    # The entry of hypercall_table for HCALL_IPC_RING, before ring_by_call() takes its place.
    ("devices/virtio/ivshmem.c", "ring_without_function"): {"ipc_ring", "no_such_call"},
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


def _sources(objects: Iterable[Path]) -> Iterable[tuple[str, list[str]]]:
    """Returns sources with what clang needs of their compiler's options, which the build has written
    beside the object files."""
    headers = Path(run_tool(["clang", "-print-resource-dir"]).strip()) / "include"
    for path in objects:
        *options, source = shlex.split(path.with_suffix(".args").read_text(encoding="utf-8"))
        wanted = [option for option in options if re.match(r"-[ID]|-std=|-ffreestanding", option)]
        yield source, ["--target=riscv64-unknown-elf", f"-isystem{headers}", *wanted]


class _Pointers:
    """The calls through pointers in the sources of object files."""

    def __init__(self, objects: Iterable[Path], root: Path) -> None:
        facts = read_facts(_sources(objects), root)
        self._calls, self._solution, self._root = facts.calls, Solution(facts), root
        self._narrowed: set[tuple[str, str]] = set()  # the entries of NARROWED that a call has used

    def targets(self, file: str, line: int) -> set[Atom]:
        """Returns the functions that a line calls through pointers."""
        calls = [call for call in self._calls if call.file == file and call.first <= line <= call.last]
        found = {atom for call in calls for atom in self._targets(call)}
        if not found or ANY in found:
            text = (self._root / file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
            problem = "holds unknown values" if found else "no function is assigned to"
            raise BenchError(f"{file}:{line}: a call through a pointer that {problem}: {text}")
        return found

    def _targets(self, call: Call) -> set[Atom]:
        found = self._solution.targets(call)
        for key in {(call.file, atom.name) for atom in call.callee} & NARROWED.keys():
            self._narrowed.add(key)
            found = {atom for atom in found if atom.name in NARROWED[key]}
            if {atom.name for atom in found} != NARROWED[key]:
                raise BenchError(f"{call.file}: {key[1]} does not hold what NARROWED says")
        return found

    def check_narrowed(self) -> None:
        """NARROWED has no entry that no call of these sources uses."""
        stale = {key for key in NARROWED if (self._root / key[0]).exists()} - self._narrowed
        if stale:
            raise BenchError(f"entries of NARROWED without a call: {', '.join(map(str, sorted(stale)))}")


def _titles(graph: Graph, function: Atom) -> set[str]:
    """Returns the titles of a function and its parts. A static one of a header is in the file that
    includes it."""
    named = {title for title in graph.frames if _plain(title) == function.name}
    return {title for title in named if function.owner.endswith(".h") or title.rpartition(":")[0] == function.owner}


def _resolve(graph: Graph, pointers: _Pointers) -> None:
    """Replaces calls through pointers by direct calls."""
    claimed: set[str] = set()
    for caller, file, line in graph.through:
        targets = {title for function in pointers.targets(file, line) for title in _titles(graph, function)}
        graph.calls.setdefault(caller, set()).update(targets)
        claimed |= targets
    pointers.check_narrowed()
    # An address may be taken for an array in the function's section, or by a table in assembly: a
    # function that is only called by name needs no pointer.
    called = {callee for callees in graph.calls.values() for callee in callees}
    lost = {title for title in graph.taken - claimed if title not in called}
    if lost:
        raise BenchError(f"no call reaches a function whose address is taken: {', '.join(sorted(lost))}")


def read_graph(objects: Iterable[Path], root: Path = ROOT) -> Graph:
    """Reads the call graph of object files whose sources are below `root`, from the .ci and .args
    files that the build has written to the same folder."""
    graph, named = Graph(), set()
    objects = list(objects)
    for path in objects:
        _read_calls(graph, path.with_suffix(".ci").read_text(encoding="utf-8"))
        named |= _addresses(run_tool(["riscv64-unknown-elf-objdump", "-r", str(path)]))
    graph.taken = {title for title in graph.frames if _plain(title) in named}
    _resolve(graph, _Pointers(objects, root))
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
